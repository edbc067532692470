"""Private values of every kind, and every place of a log that they are planted in.

All of them are made up from a random generator; equal seeds give equal values.
"""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable
from dataclasses import dataclass

ALNUM = string.ascii_letters + string.digits
BASE64 = ALNUM + "+/"
HEX = "0123456789abcdef"
WORDS = ["falcon", "harbor", "meadow", "lantern", "copper", "willow", "granite", "ember"]


@dataclass(frozen=True)
class Planted:
    """A text as a log may have it, and the parts of it that must not leave."""

    text: str
    secrets: tuple[str, ...]
    start: bool = False
    """It must stand at the start of a message."""


Rng = random.Random
Maker = Callable[[Rng], Planted]


def chars(rng: Rng, alphabet: str, size: int) -> str:
    """Return random characters, with a digit and letters of both cases where there are any."""
    made = [rng.choice(alphabet) for _ in range(size)]
    for place, group in enumerate((string.digits, string.ascii_lowercase, string.ascii_uppercase)):
        able = [char for char in alphabet if char in group]
        if able:
            made[1 + place * 3] = rng.choice(able)
    return "".join(made)


def around(form: str, alphabet: str = ALNUM, size: int = 24) -> Maker:
    """Return a maker that puts a random value into a text with ``{}``."""

    def make(rng: Rng) -> Planted:
        value = chars(rng, alphabet, size)
        return Planted(form.replace("{}", value), (value,))

    return make


def shaped(form: str, lead: str, alphabet: str = ALNUM, size: int = 36) -> Maker:
    """Return a maker of a value that is known by its shape alone."""

    def make(rng: Rng) -> Planted:
        value = lead + chars(rng, alphabet, size)
        return Planted(form.replace("{}", value), (value[len(lead) :],))

    return make


def jwt(rng: Rng) -> Planted:
    """Make a JSON web token."""
    parts = [f"eyJ{chars(rng, ALNUM, 20)}", f"eyJ{chars(rng, ALNUM, 40)}", chars(rng, ALNUM, 43)]
    return Planted(f"id {'.'.join(parts)} seen", (parts[0][3:], parts[1][3:], parts[2]))


def key_line(rng: Rng) -> Planted:
    r"""Make a private key on one line, its newlines written as ``\n``."""
    body = [chars(rng, BASE64, 64) for _ in range(3)]
    text = "\\n".join(["-----BEGIN PRIVATE KEY-----", *body, "-----END PRIVATE KEY-----"])
    return Planted(f"private_key {text}", tuple(body))


def email(rng: Rng) -> Planted:
    """Make an e-mail address."""
    name = f"{rng.choice(WORDS)}.{rng.choice(WORDS)}{rng.randrange(10, 99)}"
    return Planted(f"owner {name}@{rng.choice(WORDS)}-labs.com asked", (name,))


def home(form: str) -> Maker:
    """Return a maker of a home directory."""

    def make(rng: Rng) -> Planted:
        name = f"{rng.choice(WORDS)}{rng.randrange(100, 999)}"
        return Planted(form.replace("{}", name), (name,))

    return make


def host(form: str, *, start: bool = False) -> Maker:
    """Return a maker of a host name."""

    def make(rng: Rng) -> Planted:
        name = f"{rng.choice(WORDS)}-{rng.choice(WORDS)}-{rng.randrange(100, 999)}"
        return Planted(form.replace("{}", name), (name,), start)

    return make


def pod(rng: Rng) -> Planted:
    """Make a pod of a deployment."""
    safe = "bcdfghjklmnpqrstvwxz2456789"
    name = f"{rng.choice(WORDS)}-7{chars(rng, '2456789bcdf', 8)}-{chars(rng, safe, 8)[:5]}"
    return Planted(f"Readiness probe of {name} failed", (name,))


def ipv4(rng: Rng) -> Planted:
    """Make a private IPv4 address."""
    address = f"10.{rng.randrange(10, 255)}.{rng.randrange(10, 255)}.{rng.randrange(10, 255)}"
    return Planted(f"connect to {address}:29500 refused", (address,))


def ipv6(rng: Rng) -> Planted:
    """Make a local IPv6 address."""
    address = "fd" + ":".join(f"{rng.randrange(0x1000, 0xFFFF):04x}" for _ in range(8))[2:]
    return Planted(f"connect to [{address}]:29500 refused", (address,))


def mac(rng: Rng) -> Planted:
    """Make a MAC address."""
    address = "02:" + ":".join(f"{rng.randrange(16, 255):02x}" for _ in range(5))
    return Planted(f"link {address} is down", (address,))


def uuid(form: str) -> Maker:
    """Return a maker of a UUID."""

    def make(rng: Rng) -> Planted:
        value = "-".join(chars(rng, HEX, 12)[:size] for size in (8, 4, 4, 4, 12))
        return Planted(form.replace("{}", value), (value,))

    return make


def prompt(form: str) -> Maker:
    """Return a maker of a prompt with quotes, brackets and the log's own words in it."""

    def make(rng: Rng) -> Planted:
        words = [f"{rng.choice(WORDS)}{rng.randrange(1000, 9999)}" for _ in range(4)]
        said = f'{words[0]} isn\'t "{words[1]}", params: ({words[2]}] {words[3]}'
        return Planted(form.replace("{}", repr(said)), tuple(words))

    return make


def ids(form: str) -> Maker:
    """Return a maker of token ids."""

    def make(rng: Rng) -> Planted:
        numbers = [str(rng.randrange(10000, 150000)) for _ in range(6)]
        return Planted(form.replace("{}", ", ".join(numbers)), (", ".join(numbers[:3]), numbers[4]))

    return make


def messages(rng: Rng) -> Planted:
    """Make a chat request as the API gets it."""
    words = [f"{rng.choice(WORDS)}{rng.randrange(1000, 9999)}" for _ in range(2)]
    body = {"messages": [{"role": "user", "content": f'{words[0]} "x" {words[1]}'}], "n": 1}
    return Planted(f"body: {json.dumps(body)}", tuple(words))


def model_path(form: str) -> Maker:
    """Return a maker of a place in private storage."""

    def make(rng: Rng) -> Planted:
        name = f"{rng.choice(WORDS)}-{rng.randrange(100, 999)}b"
        return Planted(form.replace("{}", name), (name,))

    return make


KINDS: dict[str, Maker] = {
    "--api-key": around("vllm serve x --api-key {} --port 8000"),
    "--api-key in an argument list": around("['vllm', 'serve', 'x', '--api-key', '{}']"),
    "api_key= in a repr": around("Namespace(api_key='{}', port=8000)"),
    "api_key=[…] in a repr": around("args: {'api_key': ['{}', 'other0123456'], 'port': 8000}"),
    "api_key in JSON": around('config {"api_key": "{}", "port": 8000}'),
    "HF_TOKEN=": shaped("HF_TOKEN={}", "hf_", size=34),
    "Hugging Face token": shaped("login as {} failed", "hf_", size=34),
    "Authorization: Bearer": around("header Authorization: Bearer {}"),
    "Authorization: Basic": around("header 'authorization': 'Basic {}'", BASE64),
    "AWS key id": shaped("key {} is unknown", "AKIA", string.ascii_uppercase + string.digits, 16),
    "AWS secret key": around("AWS_SECRET_ACCESS_KEY={}", BASE64, 40),
    "AWS session token": around("aws_session_token = {}", BASE64, 60),
    "GCP API key": shaped("key {} is unknown", "AIza", ALNUM + "-_", 35),
    "GCP OAuth token": shaped("got {} back", "ya29.", ALNUM, 40),
    "Azure account key": around("AccountName=a;AccountKey={}==;x=y", BASE64, 86),
    "Azure SAS URL": around("https://a.blob.core.windows.net/m?sv=2024&sig={}&se=2026", ALNUM, 43),
    "Azure client secret": shaped("secret is {} now", "abc8Q~", ALNUM, 34),
    "GitHub token": shaped("clone with {} failed", "ghp_", size=36),
    "GitHub fine-grained token": shaped("clone with {} failed", "github_pat_", size=60),
    "GitLab token": shaped("clone with {} failed", "glpat-", size=20),
    "OpenAI key": shaped("Incorrect API key provided: {} .", "sk-proj-", size=48),
    "Slack token": shaped("post with {} failed", "xoxb-", size=40),
    "Slack webhook": around("POST https://hooks.slack.com/services/T0/{} 500"),
    "JWT": jwt,
    "private key on a line": key_line,
    "URL with a password": around("redis://svc:{}@cache.corp:6379/0"),
    "URL with a token": around("git clone https://{}@github.com/o/r"),
    "signed S3 URL": around(
        "GET https://b.s3.amazonaws.com/m?X-Amz-Date=1&X-Amz-Signature={}&x=1", HEX, 64
    ),
    "signed GCS URL": around("GET https://storage.googleapis.com/b/m?X-Goog-Signature={}", HEX, 64),
    "password": around("DB_PASSWORD: {}"),
    "key in an error": around("Incorrect API key provided: {}. See the docs"),
    "token in an error": around("ValueError: invalid token '{}' for user"),
    "rejected input": around(
        "Input should be a list [type=x, input_value='a {} b', input_type=str]"
    ),
    "W&B key": around("WANDB_API_KEY={}", HEX, 40),
    "prompt": prompt(
        "Received request cmpl-1: prompt: {}, params: SamplingParams(n=1), "
        "prompt_token_ids: None, prompt_embeds shape: None, lora_request: None."
    ),
    "completion": prompt(
        "Generated response cmpl-1: output: {}, output_token_ids: None, finish_reason: stop"
    ),
    "prompt= in a repr": prompt("CompletionRequest(model='m', prompt={}, n=1)"),
    "chat messages": messages,
    "request parameters": around("params: SamplingParams(n=1, stop=['{}'], seed=(1)), x: None"),
    "prompt_token_ids": ids("prompt_token_ids: [{}], prompt_embeds shape: None"),
    "e-mail address": email,
    "user in /home": home("File /home/{}/venv/x.py"),
    "user in /Users": home("File /Users/{}/venv/x.py"),
    "user in C:\\Users": home("File C:\\Users\\{}\\venv"),
    "host in a URL": host("connect to tcp://{}:29500 failed"),
    "host with a domain": host("node {}.dc2.internal left"),
    "host by name": host("master_addr={}, rank=1"),
    "host of NCCL": host("{}:12:34 [0] NCCL INFO Bootstrap", start=True),
    "pod": pod,
    "IPv4": ipv4,
    "IPv6": ipv6,
    "MAC": mac,
    "GPU UUID": uuid("device GPU-{} lost"),
    "system UUID": uuid("System UUID: {}"),
    "model path": model_path("non-default args: {'model_tag': '/srv/secret/{}', 'port': 1}"),
    "model in a bucket": model_path("--model s3://bucket/secret/{} --port 8000"),
    "weights file": model_path("missing /srv/secret/{}/model-00001-of-00002.safetensors here"),
}

PREFIX = "(APIServer pid=41) INFO 12-01 10:02:40 [x.py:63] "


def _record(item: Planted, rng: Rng) -> str:
    return f"{'' if item.start else PREFIX}{item.text}\n"


def _traceback(item: Planted, rng: Rng) -> str:
    head = f'{PREFIX}Traceback (most recent call last):\n{PREFIX}  File "a.py", line 1, in f\n'
    return head + (item.text if item.start else f"ValueError: {item.text}") + "\n"


def _json_record(item: Planted, rng: Rng) -> str:
    return json.dumps({"asctime": "2026-12-01", "message": item.text, "process": 1}) + "\n"


def _go_json(text: str) -> str:
    made = json.dumps(text, ensure_ascii=False)
    return made.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _docker(item: Planted, rng: Rng) -> str:
    return f'{{"log":{_go_json(item.text + chr(10))},"stream":"stderr","time":"t"}}\n'


def _docker_around_json(item: Planted, rng: Rng) -> str:
    inner = _json_record(item, rng)
    return f'{{"log":{_go_json(inner)},"stream":"stderr","time":"t"}}\n'


def _cut(item: Planted, rng: Rng) -> tuple[str, str]:
    secret = rng.choice(item.secrets)
    at = item.text.index(secret) + rng.randrange(1, len(secret))
    return item.text[:at], item.text[at:]


def _cri_partial(item: Planted, rng: Rng) -> str:
    first, second = _cut(item, rng)
    stamp = "2026-12-01T14:20:09.194263742Z"
    other = f"{stamp} stdout F something else\n"
    return f"{stamp} stderr P {first}\n{other}{stamp} stderr F {second}\n"


def _docker_partial(item: Planted, rng: Rng) -> str:
    first, second = _cut(item, rng)
    return (
        f'{{"log":{_go_json(first)},"stream":"stderr","time":"t"}}\n'
        f'{{"log":{_go_json(second + chr(10))},"stream":"stderr","time":"t"}}\n'
    )


def _coloured(item: Planted, rng: Rng) -> str:
    first, second = _cut(item, rng)
    return f"{'' if item.start else PREFIX}{first}\x1b[1;31m{second}\x1b[0m\n"


def _journald(item: Planted, rng: Rng) -> str:
    return f"Dec 01 14:18:01 vm vllm[123]: {item.text}\n"


def _journald_bytes(item: Planted, rng: Rng) -> str:
    data = ",".join(str(byte) for byte in f"\x1b[31m{item.text}\x1b[0m".encode())
    return f'{{"MESSAGE":[{data}],"PRIORITY":"6"}}\n'


def _kubectl(item: Planted, rng: Rng) -> str:
    return f"[pod/vllm-0/vllm] {item.text}\n"


def _crlf(item: Planted, rng: Rng) -> str:
    return f"{'' if item.start else PREFIX}{item.text}\r\n"


def _arguments(item: Planted, rng: Rng) -> str:
    return f"{PREFIX}non-default args: {{'model': 'o/m', 'x': {item.text!r}, 'port': 1}}\n"


def _environment(item: Planted, rng: Rng) -> str:
    return f"CUDA_VERSION=13.0\nNOTE={item.text}\nPATH=/usr/bin\n"


def _text_with_json(item: Planted, rng: Rng) -> str:
    return f"{PREFIX}body {json.dumps({'note': item.text, 'n': 1})} end\n"


POSITIONS: dict[str, Callable[[Planted, Rng], str]] = {
    "record": _record,
    "traceback": _traceback,
    "arguments": _arguments,
    "environment block": _environment,
    "JSON inside a record": _text_with_json,
    "CR LF": _crlf,
    "coloured inside": _coloured,
    "JSON record": _json_record,
    "Docker JSON": _docker,
    "Docker around JSON": _docker_around_json,
    "Docker, cut inside": _docker_partial,
    "CRI, cut inside": _cri_partial,
    "journald": _journald,
    "journald bytes": _journald_bytes,
    "kubectl": _kubectl,
}


def plant(kind: str, position: str, seed: int) -> tuple[str, tuple[str, ...]]:
    """Return a log with one planted value, and what of it must not survive."""
    rng = random.Random(f"{kind}/{position}/{seed}")  # noqa: S311  # repeatable, no secret
    item = KINDS[kind](rng)
    if item.start and position in ("kubectl",):
        return _record(item, rng), item.secrets
    return POSITIONS[position](item, rng), item.secrets


def survivors(output: str, secrets: tuple[str, ...]) -> list[str]:
    """Return the parts of planted values that are still there, also halves of them."""
    decoded = output
    if '"MESSAGE":[' in output:
        numbers = output.split('"MESSAGE":[', 1)[1].split("]", 1)[0]
        decoded = bytes(int(number) for number in numbers.split(",")).decode()
    found = []
    for secret in secrets:
        size = len(secret) if len(secret) < 14 else 7
        for at in range(len(secret) - size + 1):
            if secret[at : at + size] in decoded:
                found.append(secret)
                break
    return found
