"""Binary streams laid over one another: look ahead, cut to a size, drop the rest.

Each gives up to as many bytes as are asked for and none at its end, as ``io.RawIOBase``
demands. Closing one closes those below it.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, BinaryIO

from vdiag.errors import InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from vdiag.logs.limits import Budget, Trouble

_BLOCK = 1 << 16


class Layer(io.RawIOBase):
    """A stream over another one; subclasses say what is read."""

    def __init__(self, below: BinaryIO | io.RawIOBase) -> None:
        super().__init__()
        self._below = below

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill a buffer as far as one step goes; 0 at the end."""
        view = memoryview(buffer).cast("B")
        return self._into(view) if len(view) else 0

    def _into(self, view: memoryview) -> int:
        raise NotImplementedError

    def close(self) -> None:
        """Close this and what is below."""
        if not self.closed:
            self._below.close()
        super().close()

    def drain(self) -> int:
        """Read to the end; return the number of bytes that were left."""
        scrap = bytearray(_BLOCK)
        left = 0
        while got := self.readinto(scrap):
            left += got
        return left

    def exactly(self, count: int) -> bytes:
        """Read so many bytes, fewer only at the end."""
        parts = []
        while count > 0 and (part := self.read(min(count, _BLOCK))):
            parts.append(part)
            count -= len(part)
        return b"".join(parts)


class Peeked(Layer):
    """A stream whose next bytes can be looked at without taking them."""

    def __init__(self, below: BinaryIO | io.RawIOBase, budget: Budget | None = None) -> None:
        super().__init__(below)
        self._head = b""
        self._budget = budget
        self._readinto = getattr(below, "readinto", None)

    def peek(self, count: int) -> bytes:
        """Return the next bytes, fewer than ``count`` only at the end."""
        while len(self._head) < count:
            part = self._below.read(count - len(self._head))
            if isinstance(part, str):
                raise InputError("is a text stream; open it in binary mode")
            if not part:
                break
            self._head += part
            self._count(len(part))
        return self._head[:count]

    def unread(self, data: bytes) -> None:
        """Put bytes back in front."""
        self._head = data + self._head

    def _count(self, count: int) -> None:
        if self._budget is not None:
            self._budget.read += count

    def _into(self, view: memoryview) -> int:
        if self._head:
            part = self._head[: len(view)]
            self._head = self._head[len(part) :]
            view[: len(part)] = part
            return len(part)
        if self._readinto is not None:
            got = int(self._readinto(view) or 0)
        else:
            data = self._below.read(len(view)) or b""
            got = len(data)
            view[:got] = data
        self._count(got)
        return got


class Slice(Layer):
    """The next ``size`` bytes of a stream; the stream itself stays open."""

    def __init__(self, below: Peeked, size: int, what: str, trouble: Trouble) -> None:
        super().__init__(below)
        self._size = self._left = size
        self._what = what
        self._trouble = trouble

    def _into(self, view: memoryview) -> int:
        if not self._left:
            return 0
        got = int(self._below.readinto(view[: self._left]) or 0)  # type: ignore[union-attr]
        if not got:
            if not self._trouble.open:
                done = self._size - self._left
                self._trouble.note(
                    f"truncated {self._what}: ends after {done} of the {self._size} bytes of this "
                    "member"
                )
            self._left = 0
        self._left = max(self._left - got, 0)
        return got

    def close(self) -> None:
        """Close this alone: more members may follow."""
        io.RawIOBase.close(self)
