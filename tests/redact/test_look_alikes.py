"""What only looks private stays."""

import pytest

from tests.expectation import SAMPLES, samples
from tests.redact.look_alikes import LOOK_ALIKES, PREFIX
from vdiag.redact import Redactor
from vdiag.redact.stream import LogRedactor

TEXTS = [text for texts in LOOK_ALIKES.values() for text in texts]


@pytest.mark.parametrize("text", TEXTS)
def test_look_alikes_stay(text: str) -> None:
    """Versions, hashes, ids, loopback and code stay, alone and in a record."""
    assert Redactor().text(text) == text
    assert Redactor().text(PREFIX + text) == PREFIX + text


def test_samples_lose_only_what_is_private() -> None:
    """In every sample only model paths, hosts, addresses, users, prompts and their kin go."""
    counts: dict[str, int] = {}
    for log in samples():
        redactor = Redactor()
        made = b"".join(LogRedactor(redactor).feed([log.read_bytes()]))

        assert made.count(b"\n") == log.read_bytes().count(b"\n")
        for kind, count in redactor.counts.items():
            counts[kind] = counts.get(kind, 0) + count

    assert SAMPLES.is_dir()
    assert set(counts) <= {"model", "host", "ip", "user", "uuid", "prompt", "params", "tokens"}
    assert counts["model"] > 100
