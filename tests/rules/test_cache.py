"""Rules from a cache: the same report, nothing stale, nothing that is not ours."""

import os
import shutil

import pytest

from tests.expectation import SAMPLES
from vdiag.engine.diagnose import Engine
from vdiag.errors import PackError
from vdiag.logs.inputs import open_path
from vdiag.rules import cache, pack
from vdiag.rules.packs import builtin_dir

LOGS = [
    "flagship/timeout_one_rank_033.log",
    "real/h200/kv_too_small.log",
    "runs/crash_then_port_in_use_032.log",
    "bench/truncated_some_failed.log",
]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Use an empty cache."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("VDIAG_CACHE_DIR", str(folder))
    return folder


@pytest.mark.parametrize("log", LOGS)
def test_a_report_is_the_same_from_files_and_from_the_cache(place, log):
    """What was frozen and what was just validated say the same."""
    cache.load()
    reports = [
        Engine.of(rules).report([open_path(str(SAMPLES / log))], "test")
        for rules in (pack.load(), cache.load())
    ]

    assert [file.name.partition("-")[0] for file in place.iterdir()].count("rules") == 1
    assert reports[0] == reports[1]


def test_the_second_start_reads_no_rule_file(place, monkeypatch):
    """A start with a warm cache validates nothing."""
    first = cache.load()
    monkeypatch.setattr(cache, "compiled", None)

    assert cache.load().diagnoses.keys() == first.diagnoses.keys()


@pytest.mark.parametrize("damage", [b"", b"nonsense", b"half"])
def test_a_damaged_cache_is_made_again(place, damage):
    """Nobody has to clear a cache by hand."""
    whole = cache.load()
    (file,) = place.glob("rules-*")
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2] if damage == b"half" else damage)

    assert cache.load().count == whole.count
    assert file.read_bytes() == data


def test_what_others_can_write_is_not_loaded(place):
    """A cache runs as code does: it must be this user's alone."""
    cache.load()
    (file,) = place.glob("rules-*")
    file.chmod(0o666)

    assert cache.read_own(file) is None
    place.chmod(0o777)
    assert cache.directory() is None


def test_changed_rules_are_read_again(place, tmp_path):
    """The content of every file names the cache."""
    folder = tmp_path / "own"
    shutil.copytree(builtin_dir(), folder)
    (folder / "pack.yaml").write_text("name: own\nversion: '1'\noverrides: []\n")
    for path in folder.rglob("*.yaml"):
        if path.name != "pack.yaml":
            path.unlink()
    before = cache.load([folder]).packs[1].digest
    (folder / "pack.yaml").write_text("name: own\nversion: '2'\n")

    assert cache.load([folder]).packs[1].version == "2"
    assert cache.load([folder]).packs[1].digest != before


def test_a_broken_pack_is_refused_and_not_kept(place, tmp_path):
    """An error is told every time."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "pack.yaml").write_text("name: own\nversion: '1'\nnonsense: 1\n")

    for _ in range(2):
        with pytest.raises(PackError, match="nonsense"):
            cache.load([folder])


@pytest.mark.parametrize("given", ["", "relative/folder"])
def test_no_cache_is_no_error(given, monkeypatch):
    """Without a place to write, vdiag reads the files."""
    monkeypatch.setenv("VDIAG_CACHE_DIR", given)

    assert cache.directory() is None
    assert cache.load().count > 100


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    """A read-only home is common in containers."""
    tmp_path.chmod(0o500)
    monkeypatch.setenv("VDIAG_CACHE_DIR", str(tmp_path / "cache"))

    assert cache.load().count > 100


def test_the_hot_path_imports_no_validator():
    """With a warm cache an analysis imports neither pydantic nor YAML nor rich."""
    import subprocess
    import sys

    code = (
        "import sys, io, contextlib, vdiag;"
        f"vdiag.analyze({str(SAMPLES / LOGS[0])!r});"
        "print(sorted({'pydantic', 'yaml', 'rich'} & set(sys.modules)))"
    )
    env = {**os.environ, "PYTHONPATH": str(SAMPLES.parent)}
    runs = [
        subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True)
        for _ in range(2)
    ]

    assert runs[1].stdout == b"[]\n"
