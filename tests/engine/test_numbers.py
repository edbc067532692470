"""Figures in the texts of remedies: taken from the log, computed, or left out."""

import shutil

import pytest
from pydantic import ValidationError

from vdiag.engine.compiled import typed
from vdiag.engine.numbers import compute
from vdiag.engine.remedies import best
from vdiag.engine.words import Words
from vdiag.errors import PackError
from vdiag.rules.pack import load
from vdiag.rules.packs import builtin_dir
from vdiag.rules.schema import Number


class Seen:
    """An observation of which only the captures matter."""

    def __init__(self, **captures):
        self.captures = captures


def words(numbers=(), **captures):
    """Words over one observation and no facts."""
    return Words({}, [Seen(**captures)], {}, [Number.model_validate(one) for one in numbers])


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"divide": ["free", "total"], "round": "down", "digits": 2}, 0.29),
        ({"divide": ["free", "total"], "round": "up", "digits": 2}, 0.29),
        ({"divide": ["total", 3], "round": "down"}, 33),
        ({"divide": ["total", 3], "round": "up"}, 34),
        ({"divide": ["total", 8], "round": "nearest"}, 12),
        ({"multiply": ["free", "total", 2], "round": "down"}, 5800),
        ({"subtract": ["total", "free", 1], "round": "down", "digits": 1}, 70.0),
        ({"divide": ["free", "text"], "round": "down", "digits": 3}, 0.024),
    ],
)
def test_a_figure_is_rounded_as_its_rule_says(spec, expected):
    """Decimal arithmetic, left to right, with direction and digits; 29/100 stays 0.29."""
    number = Number.model_validate({"name": "n", **spec})

    assert compute([number], {"free": 29, "total": 100, "text": "1,200"}.get) == {"n": expected}


@pytest.mark.parametrize(
    "spec",
    [
        {"divide": ["free", "missing"], "round": "down"},
        {"divide": ["free", "zero"], "round": "down"},
        {"divide": ["zero", "zero"], "round": "down"},
        {"multiply": ["free", "word"], "round": "down"},
        {"multiply": ["free", "flag"], "round": "down"},
        {"multiply": ["free", "endless"], "round": "down"},
        {"multiply": ["huge", "huge"], "round": "down", "digits": 6},
        {"subtract": ["free", 100], "round": "down"},
        {"divide": ["free", 100], "round": "down"},
        {"divide": ["free", 100], "round": "down", "digits": 1, "above": 0.3},
    ],
)
def test_a_figure_without_a_sound_value_is_left_out(spec):
    """Nothing invented: unknown or odd operands, a zero divisor, a result below the limit."""
    values = {
        "free": 3,
        "zero": 0,
        "word": "many",
        "flag": True,
        "endless": float("inf"),
        "huge": 10**30,
    }

    assert compute([Number.model_validate({"name": "n", **spec})], values.get) == {}


def test_a_figure_may_use_an_earlier_one():
    """Figures are computed in their order."""
    first = Number.model_validate({"name": "a", "divide": ["x", 3], "round": "down"})
    second = Number.model_validate({"name": "b", "multiply": ["a", 3], "round": "down"})

    assert compute([first, second], {"x": 10}.get) == {"a": 3, "b": 9}


@pytest.mark.parametrize(
    "spec",
    [
        {"round": "down"},
        {"divide": ["a", "b"], "multiply": ["a", "b"], "round": "down"},
        {"divide": ["a"], "round": "down"},
        {"divide": ["a", "b"]},
    ],
)
def test_a_malformed_number_is_refused(spec):
    """One operation, two operands or more, a rounding direction."""
    with pytest.raises(ValidationError):
        Number.model_validate({"name": "n", **spec})


def test_an_operand_that_nothing_gives_is_refused(tmp_path):
    """The error names the rule, the number and the operand."""
    pack = shutil.copytree(builtin_dir(), tmp_path / "rules")
    (path,) = pack.rglob("gpu-free-memory-below-utilization.yaml")
    text = path.read_text()
    assert "numbers:\n" in text
    spec = "  - {name: n, divide: [free, fee], round: down}\n"
    path.write_text(text.replace("numbers:\n", "numbers:\n" + spec))

    with pytest.raises(PackError, match=r"below-utilization\.yaml:\d+: number 'n': 'fee' is no "):
        load(pack)


def test_a_command_takes_figures_as_a_shell_does():
    """Thousands separators are for people; a missing figure is a word in capitals."""
    filled = words(length=131072, share=0.85)

    assert filled.fill("up to {length} tokens") == "up to 131,072 tokens"
    assert filled.fill_command("--max-model-len {length}") == "--max-model-len 131072"
    assert filled.fill_command("-u {share} -m {model.max_len}") == "-u 0.85 -m MAX_LEN"


def test_a_form_without_figures_is_known_to_be_needed():
    """A text lacks a figure where any of its names has no value."""
    numbers = [{"name": "share", "divide": ["free", "total"], "round": "down", "digits": 2}]

    assert not words(numbers, free=3.0, total=10.0).lacks("{share} of {total}")
    assert words(numbers, free=3.0).lacks("{share}")
    assert words(numbers, free=3.0, total=10.0).lacks("{share} {other}")


@pytest.mark.parametrize("hostile", ["$(reboot)", "a; reboot", "a b", "`id`", "'", '"', "a\nb"])
def test_a_log_cannot_write_into_a_command(hostile):
    """A captured text with shell syntax stays out of a command that people paste."""
    assert words(name=hostile).fill_command("serve {name}") == "serve NAME"


@pytest.mark.parametrize(
    ("text", "gib"),
    [
        ("3.25 GiB", 3.25),
        ("512 MiB", 0.5),
        ("1024.00 KiB", 1 / 1024),
        ("1 TiB", 1024),
        ("512 bytes", 512 / 2**30),
        ("256.00 MB", 0.25),
        ("512", None),
        ("1e9 GiB", None),
        ("9" * 30 + " GiB", None),
    ],
)
def test_a_size_with_its_unit_is_a_number_of_gib(text, gib):
    """What torch prints as MiB or GiB can be reckoned with; anything else has no value."""
    assert typed(text, "gib") == gib


def test_a_summary_without_its_figures_takes_its_other_form():
    """The form with figures where all are known, else the one that names none."""
    seen = words(tried="3.25 GiB")

    assert best("asked for {tried}", "asked for more", seen) == "asked for {tried}"
    assert best("asked for {tried} of {capacity}", "asked for more", seen) == "asked for more"
