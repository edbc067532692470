"""Secrets and addresses do not leave; look-alikes stay."""

import time
from copy import deepcopy
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report import fixtures
from vdiag.redact import Redactor, redact
from vdiag.report import json as json_report
from vdiag.report.model import Conflict, Fact

KEY = "Zk3vQ9xTt7Lm2PpA"
HF = "hf_AbCdEfGhIjKlMnOpQrStUvWx"


@pytest.mark.parametrize(
    "text",
    [
        "--api-key {}",
        "--api-key={}",
        "['vllm', 'serve', '--api-key', '{}']",
        "api_key={}",
        "'api_key': '{}'",
        "'api_key': ['{}', 'other']",
        '{{"api_key": "{}"}}',
        '"{{\\"api_key\\": \\"{}\\"}}"',
        "api_key=['{}']",
        "OPENAI_API_KEY={}",
        "AWS_SECRET_ACCESS_KEY={}",
        "env MY_SERVICE_TOKEN={} vllm serve",
        "aws_secret_access_key = {}",
        "Authorization: Bearer {}",
        "'authorization': 'Bearer {}'",
        "Authorization: Basic {}",
        "sent Bearer {} upstream",
        "password={}",
        "DB_PASSWORD: {}",
        "redis://user:{}@cache:6379/0",
        "https://{}@github.com/x.git",
        "https://b.s3.amazonaws.com/m?X-Amz-Signature={}&x=1",
        "https://b.azure.com/m?sv=1&sig={}",
        "token: {}",
        "Namespace(api_key='{}', port=8000)",
    ],
)
def test_secrets_by_name(text: str) -> None:
    """A value that a name or a place calls a secret is replaced, the text around it stays."""
    before, after = text.format(KEY).split(KEY)
    made = Redactor().text(text.format(KEY))

    assert KEY not in made
    assert made.startswith(f"{before}<secret-1>")
    assert made.replace("<secret-2>", "other").endswith(after)


@pytest.mark.parametrize(
    "secret",
    [
        HF,
        "sk-proj-abcdefghijklmnop1234",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "github_pat_11ABCDEFG0abcdefghijkl",
        "xoxb-123456789012-abcdefghijkl",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----",
        "nvapi-abcdefghijklmnopqrstuvwx",
        "glpat-abcdefghijklmnopqrst",
    ],
)
def test_secrets_by_shape(secret: str) -> None:
    """A value that looks like a known kind of secret is replaced wherever it stands."""
    assert Redactor().text(f"got {secret}") == "got <secret-1>"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tcp://10.1.2.3:29500", "tcp://<ip-1>:29500"),
        ("from 10.1.2.3, then 10.1.2.4.", "from <ip-1>, then <ip-2>."),
        ("10.1.2.3 and 10.1.2.3", "<ip-1> and <ip-1>"),
        ("[fd00::1:2%eth0]:80", "[<ip-1>%eth0]:80"),
        ("fe80::250:56ff:fe01:1 is FE80::250:56ff:fe01:0001", "<ip-1> is <ip-1>"),
        ("::ffff:10.1.2.3", "::ffff:<ip-1>"),
        ("(RayWorkerProc pid=5, ip=10.0.0.8)", "(RayWorkerProc pid=5, ip=<ip-1>)"),
    ],
)
def test_addresses(text: str, expected: str) -> None:
    """Addresses become tokens, one a value, and ports stay."""
    assert Redactor().text(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "http://127.0.0.1:8000 0.0.0.0:8000 [::1]:80 :: 192.0.2.7 198.51.100.1 2001:db8::5",
        "flashinfer 0.7.2.1",
        "nvidia-cublas-cu12==12.8.4.1",
        "[pip3] nvidia-cudnn-cu12 9.10.2.21",
        "[conda] cublas 12.4.5.8 pypi_0",
        "cuDNN version: 9.10.2.21",
        "libcudnn.so.9.1.0.70",
        "driver 595.91.07",
        "12-01 10:04:41 INFO",
        "c10::Error std::vector x[1::2] a[::2]",
        "api_key='***'",
        "api_key=None hf_token=None, 'api_key': ['***']",
        "HF_TOKEN=$HF_TOKEN api_key=<your-key>",
        "max_num_batched_tokens=8192 prompt_token_ids=None eos_token='</s>' bos_token=1",
        "EOS_TOKEN=128001",
        "hf_overrides={} hf_config_path=None hf_quantizer",
        "0.1.dev21371+g5be911ee8",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "at 0x7f3c2a10b5d0 in cmpl-4b1f9f0d8c3e4f6f",
        "use --api-key to set the key",
        "the bearer authentication scheme",
        "disk-usage task-runner-0000000000000000",
        "unexpected token: 12",
    ],
)
def test_look_alikes_stay(text: str) -> None:
    """Loopback, documentation ranges, versions, hashes and placeholders stay as they are."""
    assert Redactor().text(text) == text


def test_several_values_of_an_option() -> None:
    """Every value of an option that takes several is replaced."""
    made = Redactor().text("--api-key first1234 second5678 --port 8000")

    assert made == "--api-key <secret-1> <secret-2> --port 8000"


@given(st.text(max_size=80))
def test_idempotent(text: str) -> None:
    """What was redacted once is not changed by a second time."""
    redactor = Redactor()
    once = redactor.text(text)

    assert redactor.text(once) == once


@given(st.ip_addresses(v=4) | st.ip_addresses(network="2600::/12"))
def test_any_address(address: object) -> None:
    """An address that stands alone is replaced unless it is one that is kept."""
    made = Redactor().text(f"peer {address} left")

    assert made in (f"peer {address} left", "peer <ip-1> left")
    if getattr(address, "is_global", False):
        assert made == "peer <ip-1> left"


def secret_report() -> fixtures.Report:
    """Make the flagship's report with secrets in many places."""
    made = fixtures.flagship()
    run = made.runs[0]
    bad = fixtures.line(9, f"connect 10.1.2.3 with api_key='{KEY}'", "APIServer")
    run.last_healthy = fixtures.line(2, f"early {KEY} at 10.1.2.3")
    run.findings[0].evidence.append(bad)
    run.findings[0].summary = f"died after {HF}"
    run.facts["env.MY_API_KEY"] = Fact(
        KEY, "stated", [bad], conflicts=[Conflict("short", [bad])], asked=KEY
    )
    assert run.first_failure is not None
    run.first_failure.message = f"refused {KEY}"
    run.unexplained = [fixtures.Unexplained("peer 10.1.2.3 gone", "ERROR", 1, bad)]
    run.processes[0] = replace(run.processes[0], host="10.1.2.3")
    made.verdict.summary = run.findings[0].summary
    return made


def test_report() -> None:
    """No secret survives anywhere in a report, not even where nothing names it."""
    text = json_report.render(redact(secret_report()))

    for secret in (KEY, HF, "10.1.2.3", '"short"'):
        assert secret not in text


def test_report_counts() -> None:
    """The copy says that it is redacted and how many values of each kind were replaced."""
    redaction = redact(secret_report()).redaction

    assert redaction.applied
    assert redaction.counts == {"ip": 1, "secret": 3}


def test_report_is_not_changed() -> None:
    """Redaction works on a copy."""
    report = secret_report()
    before = deepcopy(report)
    redact(report)

    assert report == before


def test_healthy_report_is_the_same() -> None:
    """A report without secrets stays as it is, but for saying that it is redacted."""
    report = fixtures.clean()
    made = redact(report)
    made.redaction = report.redaction

    assert made == report


def test_evidence_still_points_at_its_input() -> None:
    """An input whose name is private has one new name wherever it is named."""
    report = fixtures.flagship()
    report.inputs[0].name = "/home/falcon7/10.1.2.3.log"
    report.runs[0].findings[0].evidence[0].input = "/home/falcon7/10.1.2.3.log"
    made = redact(report)

    assert made.inputs[0].name == "/home/<user-1>/<ip-1>.log"
    assert made.runs[0].findings[0].evidence[0].input == made.inputs[0].name


def test_focus_moves_with_the_text() -> None:
    """The part of a line that matters is still where the report says."""
    report = fixtures.flagship()
    line = report.runs[0].findings[0].evidence[0]
    line.text = f"api_key='{KEY}', the part"
    line.focus = line.text.index("the part")
    made = redact(report).runs[0].findings[0].evidence[0]

    assert made.focus is not None
    assert made.text[made.focus :] == "the part"


def test_template_digits_hide_no_secret() -> None:
    """A template, whose digits are masked, is searched as if they were there."""
    report = fixtures.flagship()
    report.runs[0].unexplained = [
        fixtures.Unexplained("refused hf_Ab<n>CdEf<n>GhIj of gpu-<n>.dc<n>.corp", "ERROR", 1,
                             fixtures.line(1, "x"))
    ]  # fmt: skip
    made = redact(report).runs[0].unexplained[0].template

    assert made == "refused <secret-1> of <host-1>"


@pytest.mark.parametrize("size", range(4060, 4140, 4))
def test_half_a_secret_at_the_end_of_a_clipped_line(size: int) -> None:
    """A line is cut at 4 KiB; what is left of a secret there does not leave."""
    from vdiag.logs.text import clip

    report = fixtures.flagship()
    for secret in (HF, "10.11.12.13", "falcon.meadow@labs.com"):
        text = clip("é" * 12 + "x " * 2000)[: size - 24] + secret
        report.runs[0].last_healthy = fixtures.line(2, clip(text))
        made = redact(report).runs[0].last_healthy

        assert made is not None
        assert secret[:5] not in made.text


@pytest.mark.parametrize(
    "piece",
    [
        "a_",
        "A_",
        "--a-",
        "api_key",
        "'",
        "\\",
        ":",
        "1.",
        "a:",
        "eyJ",
        "?key",
        "://a",
        "[",
        "a@",
        "a-1",
        "/a",
        "x.",
        "content='",
        "messages=[",
        "model=/",
        "-u a:",
        "a:0:",
    ],
)
def test_time_is_bounded(piece: str) -> None:
    """A line of evidence takes little time whatever it repeats."""
    start = time.perf_counter()
    Redactor().text((piece * 4096)[:4096])

    assert time.perf_counter() - start < 1.5


@pytest.mark.parametrize("piece", ["a", "a_", "a.", "1:", "a-", "/a", "api_key='", '{"a":"\\\\'])
def test_time_grows_with_the_line(piece: str) -> None:
    """A line of 128 KiB takes no more than its share of time."""
    start = time.perf_counter()
    Redactor().text((piece * (1 << 17))[: 1 << 17])

    assert time.perf_counter() - start < 30
