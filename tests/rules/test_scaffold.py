"""`vdiag rules new`: a skeleton whose only defects are the TODOs that it names."""

import pytest

from vdiag.errors import PackError
from vdiag.rules.lint import lint
from vdiag.rules.pack import load_with
from vdiag.rules.scaffold import new_rule


def test_a_skeleton_lints_but_for_its_todos(tmp_path):
    """Every file loads and holds together; lint lists what is left to write."""
    folder = tmp_path / "pack"

    paths = new_rule(folder, "kv-pool-lost", "kv-cache")

    assert [path.relative_to(folder).as_posix() for path in paths] == [
        "pack.yaml",
        "signals/kv_pool_lost.yaml",
        "diagnoses/kv-cache/kv-pool-lost.yaml",
        "samples/rules/kv-cache/kv-pool-lost.yaml",
    ]
    problems = lint(folder)
    assert {one.code for one in problems} == {"todo"}
    assert "kv-pool-lost" in load_with([folder]).diagnoses


def test_a_skeleton_without_its_todos_has_no_defect(tmp_path):
    """Once the TODOs are answered, nothing else is left."""
    for path in new_rule(tmp_path, "kv-pool-lost", "kv-cache"):
        path.write_text(path.read_text().replace("TODO", "Done"))

    assert lint(tmp_path) == []


def test_a_second_rule_joins_the_pack(tmp_path):
    """The pack's own file is written once."""
    new_rule(tmp_path, "first-rule", "local")

    assert len(new_rule(tmp_path, "second-rule", "local")) == 3
    assert {one.code for one in lint(tmp_path)} == {"todo"}


@pytest.mark.parametrize(
    ("id", "family", "said"),
    [
        ("gpu-xid", "local", "the id 'gpu-xid' is taken"),
        ("Kv_Pool", "local", "is not of the form"),
        ("kv-pool", "../up", "is not of the form"),
        ("first-rule", "local", "the id 'first-rule' is taken"),
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path, id, family, said):
    """A taken or malformed name is told, and nothing is written."""
    new_rule(tmp_path, "first-rule", "local")
    before = sorted(tmp_path.rglob("*"))

    with pytest.raises(PackError, match=said):
        new_rule(tmp_path, id, family)

    assert sorted(tmp_path.rglob("*")) == before


def test_no_file_is_overwritten(tmp_path):
    """A file that is there stays as it is."""
    path = tmp_path / "samples" / "rules" / "local" / "kv-pool.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("mine\n")

    with pytest.raises(PackError, match="is there already; nothing was written"):
        new_rule(tmp_path, "kv-pool", "local")
    assert path.read_text() == "mine\n"
    assert not (tmp_path / "pack.yaml").exists()
