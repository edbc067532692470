r"""Docker, docker compose and the container runtimes of Kubernetes.

Formats: Docker's json-file logging driver (Docker documentation, "JSON File logging driver";
moby `daemon/logger/jsonfilelog/jsonlog`, `daemon/logger/copier.go`: a record over 16 KiB is cut
into parts, only the last of which ends with `\n`); `docker logs --timestamps` (RFC 3339, nine
digits); docker compose `formatter/logs.go` (name padded to the longest, one space, `| `);
the Kubernetes CRI logging format ("CRI: Log format": `time stream P|F text`), whose partial
records containerd cuts at `max_container_log_line_size`, 16 KiB by default.
"""

from __future__ import annotations

from .lines import Line, joined, lines, rfc3339, rfc3339_trimmed

LIMIT = 16 * 1024
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r"}


def docker_json(log: bytes, *, limit: int = LIMIT, mixed: bool = False) -> bytes:
    """Return the file that Docker's json-file driver writes.

    `mixed` lets the next line of stderr fall between the parts of a long line of stdout.
    """
    return joined(
        [
            b'{"log":%s,"stream":"%s","time":"%s"}'
            % (_go_string(part + (b"\n" if last else b"")), line.stream.encode(), _time(line))
            for line, part, last in _parts(log, limit, mixed)
        ]
    )


def cri(log: bytes, *, limit: int = LIMIT, zone: str = "Z", mixed: bool = False) -> bytes:
    """Return the file below /var/log/pods that a CRI runtime writes.

    `zone` is `Z` or an offset; CRI-O writes one, as `+00:00`.
    """
    return joined(
        [
            f"{rfc3339(line, zone)} {line.stream} {'F' if last else 'P'} ".encode() + part
            for line, part, last in _parts(log, limit, mixed)
        ]
    )


def docker_logs_t(log: bytes) -> bytes:
    """Return what `docker logs --timestamps` prints."""
    return joined([rfc3339(one).encode() + b" " + one.data for one in lines(log)])


def compose(
    log: bytes,
    *,
    name: str = "vllm-1",
    beside: str | None = None,
    colour: bool = False,
    stamps: bool = False,
    attached: bool = False,
) -> bytes:
    """Return what `docker compose logs` prints, or with `attached` what `up` does.

    `beside` names a second service that prints an access line now and then.
    """
    width = max(len(name), len(beside or "")) + 1

    def text(service: str, line: Line, data: bytes) -> bytes:
        prefix = f"{service:<{width}} | "
        if colour:
            prefix = f"\x1b[3{6 if service == name else 3}m{prefix}\x1b[0m"
        return (prefix + (rfc3339(line) + " " if stamps else "")).encode() + data

    out = [b"Attaching to " + name.encode()] if attached else []
    for number, line in enumerate(lines(log)):
        if beside and line.record and number % 7 == 6:
            out.append(text(beside, line, b'10.0.0.7 - - "POST /v1/completions HTTP/1.1" 200 512'))
        out.append(text(name, line, line.data))
    if attached:
        out.append(b"%s exited with code 0" % name.encode())
    return joined(out)


def _time(line: Line) -> bytes:
    return rfc3339_trimmed(line).encode()


def _parts(log: bytes, limit: int, mixed: bool) -> list[tuple[Line, bytes, bool]]:
    """Cut long lines into parts; say of each whether it is the last of its line."""
    rest = lines(log)
    out: list[tuple[Line, bytes, bool]] = []
    while rest:
        line = rest.pop(0)
        cut = [line.data[i : i + limit] for i in range(0, len(line.data), limit)] or [b""]
        for number, part in enumerate(cut):
            last = number == len(cut) - 1
            out.append((line, part, last))
            if mixed and not last and rest and rest[0].stream != line.stream:
                between = rest.pop(0)
                out.append((between, between.data[:limit], True))
    return out


def _go_string(data: bytes) -> bytes:
    """Return a JSON string as moby's jsonlog writes it: `<`, `>`, `&` as `u003c` and so on."""
    out = ['"']
    for char in data.decode("utf-8", "replace"):
        if char in _SHORT:
            out.append(_SHORT[char])
        elif char < " " or char in "<>&\u2028\u2029":
            out.append(f"\\u{ord(char):04x}")
        else:
            out.append(char)
    return "".join([*out, '"']).encode()
