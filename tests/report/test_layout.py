"""Measuring, cutting and wrapping."""

from hypothesis import given
from hypothesis import strategies as st

from vdiag.report.layout import cells, clip, cut, squeeze, wrap

TEXT = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=200)


@given(TEXT, st.integers(8, 60))
def test_wrap_fits(text: str, width: int) -> None:
    """No wrapped line is wider than asked, and no character but blanks is lost."""
    lines = wrap(text, width)

    assert all(cells(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(TEXT, st.integers(0, 60))
def test_cut_and_squeeze_fit(text: str, width: int) -> None:
    """A cut text is never wider than asked."""
    assert cells(cut(text, width)) <= width
    assert cells(squeeze(text, width)) <= width


@given(TEXT, st.integers(8, 60), st.integers(1, 4))
def test_clip_keeps_its_budget(text: str, width: int, lines: int) -> None:
    """Clipped prose never takes more lines than its budget."""
    clipped = clip(text, width, lines)

    assert len(clipped) <= lines
    assert all(cells(line) <= width for line in clipped)


def test_squeeze_keeps_the_end() -> None:
    """A long line loses its middle, because its end often holds the point."""
    text = "Initialized FlashInfer Allreduce norm fusion workspace with backend=mnnvl"

    assert squeeze(text, 40) == "Initialized FlashInf…with backend=mnnvl"


def test_squeeze_drops_the_module_first() -> None:
    """An exception loses its module path before anything else."""
    text = "torch.AcceleratorError: CUDA error: unspecified launch failure"

    assert squeeze(text, 58) == "…AcceleratorError: CUDA error: unspecified launch failure"


def test_backticks_stay_together() -> None:
    """A command in backticks is not broken over lines where it fits one."""
    assert wrap("run it now: `dmesg -T | tail`", 20) == ["run it now:", "`dmesg -T | tail`"]


def test_wide_characters() -> None:
    """Chinese prose is broken by cells, not by characters."""
    assert wrap("快速结论该报错", 8) == ["快速结论", "该报错"]
