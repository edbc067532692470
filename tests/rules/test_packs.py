"""Packs beside the built-in one: what they add, what they replace, and what they cannot do."""

import io
import json
import os
import subprocess
import sys
import time

import pytest

import vdiag
from tests.expectation import SAMPLES
from tests.rules.small import DIAGNOSIS, parts, write
from vdiag.errors import PackError
from vdiag.rules.cases import load_cases
from vdiag.rules.pack import load, load_with

RULE = "diagnoses/cache/cache-peer-lost.yaml"


def small(tmp_path, **files):
    """Write the small pack, with changed files, and return its folder."""
    return write(tmp_path / "pack", {**parts(), **files})


def crash():
    """Return the log that the small pack's rule must find."""
    return (SAMPLES / "preludes" / "gpu_tp8_0330.log").read_bytes() + (
        b"(EngineCore pid=12) ERROR 12-01 13:11:45 [cache.py:1] shared cache lost its peer 3\n"
        b"(EngineCore pid=12) ERROR 12-01 13:11:45 [core.py:1] EngineCore encountered a fatal "
        b"error.\n"
    )


def command(*args):
    """Run vdiag in a process of its own; return (status, output, errors)."""
    done = subprocess.run(
        [sys.executable, "-m", "vdiag", *map(str, args)],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SAMPLES.parent)},
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_a_pack_adds_its_rules_and_the_report_names_both(tmp_path):
    """A private rule finds its failure; the report lists every pack with its digest."""
    folder = small(tmp_path)

    report = vdiag.analyze(io.BytesIO(crash()), rules=folder)

    assert report.verdict.root == "cache-peer-lost"
    assert [pack.name for pack in report.vdiag.rules.packs] == ["builtin", "small"]
    assert len({pack.digest for pack in report.vdiag.rules.packs}) == 2
    assert report.vdiag.rules.count == load().count + 1
    assert vdiag.analyze(io.BytesIO(crash())).verdict.root == "sym-engine-fatal"


def test_every_command_takes_packs(tmp_path):
    """Analyze, facts, explain and rules list know the rules of --rules, given several times."""
    one = small(tmp_path)
    other = write(tmp_path / "other", {"pack.yaml": {"name": "other", "version": "2"}})
    packs = ("--rules", one, "--rules", other)
    log = tmp_path / "server.log"
    log.write_bytes(crash())

    status, out, _ = command("analyze", log, *packs, "-f", "json")
    report = json.loads(out)
    assert (status, report["verdict"]["root"]) == (1, "cache-peer-lost")
    assert [pack["name"] for pack in report["vdiag"]["rules"]["packs"]] == [
        "builtin",
        "small",
        "other",
    ]
    assert command("facts", log, *packs)[0] == 0
    assert "The shared cache lost a peer" in command("explain", "cache-peer-lost", *packs)[1]
    assert "cache-peer-lost" in command("rules", "list", *packs)[1]


def replaced(**changes):
    """Return a pack that replaces a built-in signal, given in full."""
    signal = load().signals["cuda.other"].model_dump(exclude_unset=True, mode="json")
    return {
        "pack.yaml": {"name": "private", "version": "1", **changes},
        "signals/cuda.yaml": {"signals": [{**signal, "title": "Replaced"}]},
    }


def test_a_pack_replaces_what_it_says_it_replaces(tmp_path):
    """A replaced definition takes the place of the old one, in the old one's order."""
    folder = write(tmp_path, replaced(overrides=["cuda.other"]))

    pack = load_with([folder])

    assert pack.signals["cuda.other"].title == "Replaced"
    assert list(pack.signals) == list(load().signals)


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ([], "already defined in signals/cuda.yaml:"),
        ([], "list cuda.other under `overrides:` in pack.yaml"),
        (["cuda.other", "cuda.some"], r"pack.yaml:5: overrides 'cuda.some', which no pack"),
    ],
)
def test_a_replacement_must_be_said_and_be_one(tmp_path, overrides, said):
    """Neither a silent replacement nor an override of nothing is taken."""
    folder = write(tmp_path, replaced(overrides=overrides))

    with pytest.raises(PackError, match=said):
        load_with([folder])


def test_the_name_of_the_builtin_pack_is_taken(tmp_path):
    """A report must not list two packs of one name."""
    folder = write(tmp_path, {"pack.yaml": {"name": "builtin", "version": "1"}})

    with pytest.raises(PackError, match="a pack is already called 'builtin'"):
        load_with([folder])


LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)
)
HOSTILE = {
    "a billion laughs": (LAUGHS, "holds more than 100,000 values with its aliases written out"),
    "an alias of itself": ("id: &a [*a]\n", "holds itself by an alias"),
    "deep flow nesting": ("id: " + "[" * 100_000, "exceeded maximum nesting depth|nested deeper"),
    "deep block nesting": (
        "".join(" " * depth + "a:\n" for depth in range(60)),
        "is nested deeper than 40 levels",
    ),
    "a tag of Python": ("id: !!python/object/apply:os.system [ls]\n", "could not determine"),
    "a number without end": ("id: " + "9" * 100_000, "holds a number of 100,000 characters"),
    "a sexagesimal number": ("id: 1" + ":1" * 50_000, "holds a number of 100,001 characters"),
    "a key twice": ("id: a\ntitle: b\nid: c\n", r"yaml:3: says `id:` twice"),
    "a file too large": ("# " + "x" * (1 << 20), "larger than 1 MiB"),
    "no UTF-8": ("id: \udcff", "is not UTF-8"),
    "another key": (json.dumps(DIAGNOSIS | {"run": ["rm"]}), "run: Extra inputs are not permitted"),
    "an empty file": ("", "the document: "),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_fails_in_one_line_within_a_second(tmp_path, name):
    """What would grow, run or hide something is refused, quickly, with file and reason."""
    text, said = HOSTILE[name]
    folder = small(tmp_path)
    (folder / RULE).write_bytes(text.encode("utf-8", "surrogateescape"))
    load_with([])
    begin = time.process_time()

    with pytest.raises(PackError, match=said) as refused:
        load(folder)

    assert time.process_time() - begin < 1
    assert str(refused.value).startswith(f"{folder}/{RULE}")
    assert "\n" not in str(refused.value)


def test_a_hostile_pack_is_status_2_and_one_line(tmp_path):
    """The command line says it in one line, without a traceback."""
    folder = small(tmp_path, **{"signals/cache.yaml": LAUGHS})

    status, out, err = command("analyze", "--rules", folder, SAMPLES / "README.md")

    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"vdiag: {folder}/signals/cache.yaml:")


@pytest.mark.parametrize("target", ["../../secret.yaml", "/etc/hostname", "nowhere.yaml"])
def test_a_link_out_of_the_pack_is_refused(tmp_path, target):
    """A pack reads nothing outside of its folder."""
    folder = small(tmp_path)
    (tmp_path / "secret.yaml").write_text("signals: []\n")
    (folder / "signals" / "more.yaml").symlink_to(target)

    with pytest.raises(PackError, match=r"signals/more\.yaml: a link that leads out of the pack"):
        load(folder)


def test_a_linked_folder_out_of_the_pack_is_refused(tmp_path):
    """A folder is held to the same rule as a file."""
    folder = small(tmp_path)
    (folder / "symptoms").symlink_to("/etc")

    with pytest.raises(PackError, match="symptoms: a link that leads out of the pack"):
        load(folder)


def test_a_loop_of_links_is_refused(tmp_path):
    """A folder that holds itself ends, in an error."""
    folder = small(tmp_path)
    (folder / "signals" / "again").symlink_to(folder)

    with pytest.raises(PackError, match="a link that leads back"):
        load(folder)


def test_links_inside_the_pack_are_followed(tmp_path):
    """A mounted ConfigMap shows its files as links to a hidden folder."""
    real = small(tmp_path / "real")
    folder = tmp_path / "mounted"
    folder.mkdir()
    real.rename(folder / "..2026_12_01")
    (folder / "..data").symlink_to("..2026_12_01")
    for name in ("pack.yaml", "signals", "diagnoses"):
        (folder / name).symlink_to(f"..data/{name}")

    assert "cache-peer-lost" in load_with([folder]).diagnoses


def test_a_pipe_in_a_pack_does_not_hang(tmp_path):
    """Only plain files are opened."""
    folder = small(tmp_path)
    os.mkfifo(folder / "signals" / "pipe.yaml")

    with pytest.raises(PackError, match=r"pipe\.yaml: is no plain file"):
        load(folder)


def test_another_ending_is_no_silent_omission(tmp_path):
    """A file that would be passed over is told."""
    folder = small(tmp_path)
    (folder / "signals" / "more.yml").write_text("signals: []\n")

    with pytest.raises(PackError, match=r"more\.yml: name it more\.yaml"):
        load(folder)


def test_a_prelude_lies_in_the_samples(tmp_path):
    """A case cannot read a file by its prelude."""
    files = parts()
    case = files["samples/rules/cache/cache-peer-lost.yaml"]["hits"][0]
    case["prelude"] = "../../secret:all"
    folder = write(tmp_path / "pack", files)
    (tmp_path / "secret.yaml").write_text("stages: {all: 1}\n")
    (tmp_path / "secret.log").write_text("secret\n")

    with pytest.raises(PackError, match="there is no prelude"):
        load_cases(folder / "samples")


def test_several_problems_are_counted(tmp_path):
    """The one line says how many more there are, and what shows them."""
    files = parts()
    files[RULE]["explains"] = ["sym-a", "sym-b"]
    folder = write(tmp_path / "pack", files)

    with pytest.raises(PackError, match=r"names 'sym-a', .* \(and 1 more; vdiag rules lint shows"):
        load_with([folder])
