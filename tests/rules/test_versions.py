"""Versions as vLLM and FlashInfer write them."""

import pytest

from vdiag.rules.versions import in_range, same_commit


@pytest.mark.parametrize(
    ("version", "range_", "expected"),
    [
        ("0.33.0", ">=0.25.0,<=0.33.0", True),
        ("0.24.0", ">=0.25.0", False),
        ("0.27.1+cu129", ">=0.25.0,<0.28", True),
        ("0.7.2.post1", ">=0.6.13,<0.7.4", True),
        ("0.6.12", ">=0.6.13,<0.7.4", False),
        ("0.7.4", ">=0.7.4", True),
        ("0.13.0rc2.dev185+g1234567", ">=0.13", True),
        ("0.13.0rc2.dev185+g1234567", "<0.13", False),
        ("0.1.dev21371+g5be911ee8", "<0.25", None),
        ("0.1.dev21371+g5be911ee8", ">=0.25", None),
        ("unknown", ">=0.25", None),
    ],
)
def test_a_version_lies_in_a_range_by_its_base_release(version, range_, expected):
    """A development build counts as its base; a nightly compares with nothing."""
    assert in_range(version, range_) is expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("65faf4efa0", "65faf4efa", True),
        ("g65faf4efa", "65faf4efa0", True),
        ("65faf4ef", "65faf4efa0", False),
        ("65faf4efb0", "65faf4efa0", False),
        ("not a commit", "65faf4efa0", False),
    ],
)
def test_commits_agree_on_nine_digits_or_more(one, other, expected):
    """Eight digits are too few to name a commit."""
    assert same_commit(one, other) is expected
