"""The built samples are what their builder makes."""

import pytest

from tests.expectation import SAMPLES
from tests.synth import SCENARIOS, build


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_a_committed_sample_equals_what_the_builder_makes(name):
    """Nobody edits a built sample by hand, and the builder is deterministic."""
    for path, data in build(name).files().items():
        assert (SAMPLES / path).read_bytes() == data, path


def test_every_sample_has_a_source_and_an_expectation():
    """A log without provenance and expectation proves nothing."""
    built = {f"{name}.log" for name in SCENARIOS}
    logs = [path for path in SAMPLES.rglob("*.log") if path.parent.name != "preludes"]
    found = {path.relative_to(SAMPLES).as_posix() for path in logs}

    others = {name for name in found if not name.startswith(("real/", "written/"))}

    assert others == built
    for path in logs:
        assert path.with_name(path.stem + ".expect.yaml").is_file(), path
