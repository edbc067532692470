"""Chunks of whole lines from one buffer."""

import io

import pytest

from vdiag.errors import InputError
from vdiag.logs import sources
from vdiag.logs.inputs import open_path
from vdiag.logs.sources import Source


class Dribble(io.RawIOBase):
    """A pipe that gives few bytes at a time."""

    def __init__(self, data, step):
        super().__init__()
        self.data, self.step, self.at = data, step, 0

    def readable(self):
        """Say yes."""
        return True

    def readinto(self, buffer):
        """Give the next few bytes."""
        part = self.data[self.at : self.at + min(self.step, len(buffer))]
        buffer[: len(part)] = part
        self.at += len(part)
        return len(part)


def whole(source):
    """Read a source through its chunks; return the bytes and check the offsets."""
    out = b""
    for chunk in source.chunks():
        assert chunk.offset == len(out)
        out += bytes(chunk.data[: chunk.size])
    return out


@pytest.mark.parametrize("step", [1, 7, 4096])
def test_a_pipe_loses_and_repeats_nothing(step, monkeypatch):
    """However few bytes a read gives, the chunks together are the input."""
    monkeypatch.setattr(sources, "CHUNK", 64)
    data = b"".join(b"line %d\n" % number for number in range(200)) + b"no newline at the end"

    assert whole(Source("x", Dribble(data, step))) == data


def test_chunks_end_at_a_newline(monkeypatch):
    """A line is never cut between two chunks."""
    monkeypatch.setattr(sources, "CHUNK", 64)
    data = b"".join(b"line %d\n" % number for number in range(50))

    ends = [chunk.data[chunk.size - 1] for chunk in Source("x", io.BytesIO(data)).chunks()]

    assert set(ends) == {ord("\n")}


def test_a_line_longer_than_the_buffer_keeps_line_numbers_true(monkeypatch):
    """Of a huge line the beginning is kept, and the lines after it keep their numbers."""
    monkeypatch.setattr(sources, "CHUNK", 64)
    data = b"first\n" + b"x" * 1000 + b"\nlast\n"

    text = b"".join(bytes(c.data[: c.size]) for c in Source("x", io.BytesIO(data)).chunks())

    assert text.startswith(b"first\nxxxx")
    assert text.endswith(b"\nlast\n")
    assert text.count(b"\n") == 3


def test_a_missing_file_is_one_clear_line():
    """What, where and what next."""
    with pytest.raises(InputError, match=r"^nowhere\.log: no such file; give a log file"):
        open_path("nowhere.log")
