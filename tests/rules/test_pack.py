"""Loading packs: whole or not at all."""

import shutil

import pytest

from vdiag.errors import PackError
from vdiag.rules.pack import load
from vdiag.rules.packs import builtin_dir


@pytest.fixture
def pack_dir(tmp_path):
    """Copy the built-in pack, to break it."""
    return shutil.copytree(builtin_dir(), tmp_path / "rules")


def flagship(pack_dir):
    """Path of the flagship's file."""
    (path,) = pack_dir.rglob("fi-mnnvl-hisparse-spill-crash.yaml")
    return path


def test_the_builtin_pack_loads_with_its_names_resolved():
    """Every signal, fact and id that a rule names exists."""
    pack = load()

    assert "fi-mnnvl-hisparse-spill-crash" in pack.diagnoses
    assert pack.count == len(pack.diagnoses) + len(pack.symptoms)


def test_the_digest_follows_the_content(pack_dir):
    """A changed byte in a rule changes the pack's digest."""
    before = load(pack_dir).digest
    path = flagship(pack_dir)
    path.write_text(path.read_text() + "\n# a remark\n")

    assert load(pack_dir).digest != before


def test_broken_yaml_is_refused_with_its_line(pack_dir):
    """A syntax error names file and line."""
    path = flagship(pack_dir)
    path.write_text("id: fi-mnnvl-hisparse-spill-crash\ntitle: [unclosed\n")

    with pytest.raises(PackError, match=r"fi-mnnvl-hisparse-spill-crash\.yaml:\d+: "):
        load(pack_dir)


def test_an_unknown_key_is_refused_with_its_line(pack_dir):
    """A misspelt key is an error, not something ignored."""
    path = flagship(pack_dir)
    text = path.read_text()
    line = text[: text.index("\nfamily:")].count("\n") + 2
    path.write_text(text.replace("\nfamily:", "\nfamilly: x\nfamily:", 1))

    with pytest.raises(PackError, match=rf"{path.stem}\.yaml:{line}: familly: "):
        load(pack_dir)


def test_a_name_that_does_not_exist_is_refused(pack_dir):
    """A rule that waits for a signal nobody defines would never speak."""
    path = flagship(pack_dir)
    path.write_text(path.read_text().replace("cuda.launch_failure", "cuda.lunch_failure"))

    with pytest.raises(PackError, match=r"unknown signal 'cuda\.lunch_failure'"):
        load(pack_dir)


def test_a_bad_pattern_is_refused(pack_dir):
    """A pattern that does not compile is found when the pack is loaded, not on a hit."""
    path = pack_dir / "signals" / "broken.yaml"
    path.write_text(
        "signals:\n  - id: broken.one\n    title: x\n    literals: [unspecified]\n"
        "    patterns: ['(unclosed']\n    source: none\n    samples: [unspecified]\n"
    )

    with pytest.raises(PackError, match=r"signals/broken\.yaml:2: .*bad pattern"):
        load(pack_dir)


def test_a_second_definition_names_the_first(pack_dir):
    """Two signals of one name would make a rule mean two things."""
    path = pack_dir / "signals" / "again.yaml"
    path.write_text(
        "signals:\n  - id: cuda.launch_failure\n    title: x\n    literals: [unspecified]\n"
        "    patterns: [unspecified]\n    source: none\n    samples: [unspecified]\n"
    )

    with pytest.raises(PackError, match=r"already defined in .*signals/again\.yaml:2"):
        load(pack_dir)


def test_a_folder_without_a_pack_is_refused(tmp_path):
    """A wrong folder is said to be one."""
    with pytest.raises(PackError, match="no rule pack here"):
        load(tmp_path)
