"""A whole log is redacted line by line, with its lines and all else kept."""

import io
import json
import tracemalloc

import pytest

from tests.expectation import samples
from vdiag.engine.diagnose import Engine
from vdiag.logs.sources import Source
from vdiag.redact import Redactor
from vdiag.redact.gate import HintGate, ScanGate
from vdiag.redact.stream import LogRedactor
from vdiag.rules.cache import load

ENGINE = Engine.of(load())
HF = "hf_AbCdEfGhIjKlMnOpQrStUvWx"
STAMP = "2026-12-01T14:20:09.194263742Z"


def redacted(data: bytes, redactor: Redactor | None = None) -> bytes:
    """Redact a log that is read in one chunk."""
    return b"".join(LogRedactor(redactor or Redactor()).feed([data]))


def test_bytes_that_are_no_text_stay() -> None:
    """What is no UTF-8, carriage returns and a missing last newline are as they were."""
    data = b"\xff\xfe caf\xc3\xa9 \x80\r\n\r\n\x1b[31mred\x1b[0m\n\nlast"

    assert redacted(data) == data


def test_tokens_are_stable_over_lines() -> None:
    """One value has one token, another has another."""
    made = redacted(b"ip 10.1.2.3\nip 10.1.2.4\nip 10.1.2.3\n")

    assert made == b"ip <ip-1>\nip <ip-2>\nip <ip-1>\n"


def test_a_private_key_over_lines() -> None:
    """Every line of a key is replaced, prefixed or not, and what follows it stays."""
    body = ["MIIEowIBAAKCAQEAxGKmRzS7/a+b", "Zk3vQ9xTt7Lm2PpAQm9Y", "ab9="]
    for lead in ("", "(A pid=1) ERROR 12-01 10:00:00 [x.py:1] ", f"{STAMP} stdout F "):
        lines = ["-----BEGIN RSA PRIVATE KEY-----", *body, "-----END RSA PRIVATE KEY-----", "on"]
        made = redacted("".join(f"{lead}{line}\n" for line in lines).encode()).decode()

        assert made == f"{lead}<secret-1>\n" * 5 + f"{lead}on\n"


def test_a_private_key_without_end_is_given_up() -> None:
    """A key that never ends does not eat the rest of the log."""
    lines = ["-----BEGIN PRIVATE KEY-----", *(["Zk3vQ9xTt7Lm2PpAQm9Y"] * 500)]
    made = redacted("\n".join(lines).encode()).decode().split("\n")

    assert len(made) == len(lines)
    assert made[1] == "<secret-1>"
    assert made[-1] == lines[-1]


@pytest.mark.parametrize("at", range(1, len(HF)))
def test_a_secret_cut_by_cri(at: int) -> None:
    """Neither half of a secret in two partial lines survives; the other stream stays."""
    data = (
        f"{STAMP} stderr P token {HF[:at]}\n{STAMP} stdout F other\n{STAMP} stderr F {HF[at:]} x\n"
    )

    assert redacted(data.encode()).decode() == (
        f"{STAMP} stderr P token <secret-1>\n{STAMP} stdout F other\n{STAMP} stderr F  x\n"
    )


def test_a_secret_cut_by_docker() -> None:
    """Docker's records stay JSON, and hold neither half."""
    lines = [f'say \\"hi\\" {HF[:9]}', f"{HF[9:]} x\\n", "after\\n"]
    data = "".join(f'{{"log":"{line}","stream":"stdout","time":"t"}}\n' for line in lines)
    made = redacted(data.encode()).decode()
    logs = [json.loads(line)["log"] for line in made.splitlines()]

    assert logs == ['say "hi" <secret-1>', " x\n", "after\n"]


def test_a_cut_line_that_never_ends() -> None:
    """The first part of a line whose rest is missing is written, and searched."""
    made = redacted(f"{STAMP} stderr P token {HF}\n{STAMP} stdout F other\n".encode())

    assert made == f"{STAMP} stderr P token <secret-1>\n{STAMP} stdout F other\n".encode()


def test_a_very_long_cut_line() -> None:
    """Where a message is too long to search at once, nothing is left at the seams."""
    part = "x" * 15_000 + " "
    lines = [f"{STAMP} stdout P {part}{HF[:12]}\n{STAMP} stdout P {HF[12:]} \n"] * 90
    made = redacted("".join(lines).encode()).decode()

    assert HF[:10] not in made
    assert HF[-10:] not in made
    assert made.count("\n") == 180


def test_a_line_whose_end_was_lost() -> None:
    """Of a line that the reader cut, the end may be half a secret and does not leave."""
    made = b"".join(LogRedactor(Redactor()).feed([b"a b token hf_AbCdE", b"\nnext\n"]))

    assert made == b"a b token <cut>\nnext\n"


def test_a_secret_named_once_is_known_later() -> None:
    """A value that something named is replaced further on where nothing names it."""
    made = redacted(b"--api-key Zk3vQ9xTt7Lm2PpA\nsaw Zk3vQ9xTt7Lm2PpA again\n")

    assert made == b"--api-key <secret-1>\nsaw <secret-1> again\n"


def test_json_stays_json() -> None:
    """Escapes in a JSON record are not cut in half, and keep their meaning."""
    data = {"message": f'mail <a1@b.com> "x" {HF}\u00e9\\', "api_key": 'p"w\\', "n": 1}
    line = json.dumps(data).replace("<", "\\u003c").replace(">", "\\u003e")
    made = json.loads(redacted(line.encode()))

    assert made["message"].startswith("mail <<email-1>> ")
    assert HF not in made["message"]
    assert made["api_key"] == "<secret-2>"


@pytest.mark.parametrize("log", samples()[::9], ids=lambda path: path.stem)
def test_a_redacted_log_gives_the_same_verdict(log) -> None:
    """What diagnosis reads is not lost: verdict, root and evidence lines are the same."""
    data = log.read_bytes()
    before = ENGINE.report([Source("a", io.BytesIO(data))], "test")
    after = ENGINE.report([Source("a", io.BytesIO(redacted(data)))], "test")

    assert after.verdict.status == before.verdict.status
    assert after.verdict.root == before.verdict.root
    assert [run.outcome for run in after.runs] == [run.outcome for run in before.runs]
    lines = [
        [item.line for run in one.runs for finding in run.findings for item in finding.evidence]
        for one in (before, after)
    ]
    assert lines[0] == lines[1]


def test_both_gates_give_the_same_log() -> None:
    """Hyperscan's gate never closes on a finder that would find something."""
    from tests.redact.planted import KINDS, POSITIONS, plant

    fast = Redactor()
    gate = ScanGate(fast.finders)
    logs = [plant(kind, place, 1)[0].encode() for kind in KINDS for place in POSITIONS]
    logs += [log.read_bytes() for log in samples()[::25]]
    for data in logs:
        slow, fast = Redactor(), Redactor()
        fast.gate = gate

        assert isinstance(slow.gate, HintGate)
        assert redacted(data, slow) == redacted(data, fast)


def test_memory_does_not_grow_with_the_log() -> None:
    """A log of many values is redacted in bounded memory."""

    def chunks():
        for number in range(6):
            yield b"".join(b"GET /x 10.0.%d.%d ok\n" % (number, place) for place in range(250)) * 4

    redactor = LogRedactor(Redactor())
    tracemalloc.start()
    size = sum(len(line) for line in redactor.feed(chunks()))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert size > 100_000
    assert peak < 12_000_000
