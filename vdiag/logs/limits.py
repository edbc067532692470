"""How much one argument may unpack, and what went wrong while it was read."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what one argument (a file, an archive, standard input) may unpack to.

    ``docs/decisions/0006`` says why they are what they are.
    """

    output: int = 64 << 30
    """Bytes, over all members and layers of packing."""
    ratio: int = 1000
    """Bytes unpacked for a byte read."""
    ratio_from: int = 256 << 20
    """Bytes unpacked before the ratio counts."""
    members: int = 10_000
    """Members of an archive, or files in a folder."""


LIMITS = Limits()


class UnpackError(Exception):
    """Packed data that cannot be read any further; the text says why."""


@dataclass(slots=True)
class Budget:
    """What one argument has read and unpacked so far."""

    limits: Limits = LIMITS
    read: int = 0
    """Bytes as they lie in the file or come out of the pipe."""
    unpacked: int = 0
    spent: bool = False
    """Whether a limit was passed."""

    def take(self, count: int) -> None:
        """Count unpacked bytes; raises UnpackError where a limit is passed."""
        self.unpacked += count
        limits = self.limits
        if self.unpacked > limits.output:
            self.spent = True
            raise UnpackError(
                f"unpacks to more than {amount(limits.output)}; reading stopped there, unpack it "
                "yourself and pipe it in: … | vdiag analyze -"
            )
        if self.unpacked > max(limits.ratio_from, limits.ratio * self.read):
            self.spent = True
            raise UnpackError(
                f"unpacks to more than {limits.ratio:,} times its size; reading stopped after "
                f"{amount(self.unpacked)}, if it is no bomb unpack it yourself and pipe it in: "
                "… | vdiag analyze -"
            )


@dataclass(slots=True)
class Trouble:
    """What went wrong below an input; the input that it cut short takes it over."""

    open: list[str] = field(default_factory=list)
    """Texts that no input has taken over yet."""
    remarks: list[str] = field(default_factory=list)
    """Oddities that cost nothing of the log."""
    taken: bool = False

    @property
    def noted(self) -> bool:
        """Whether anything cut the reading short so far."""
        return self.taken or bool(self.open)

    def note(self, text: str) -> None:
        """Note what cut the reading short, once."""
        if text not in self.open:
            self.open.append(text)

    def take(self) -> list[str]:
        """Hand over what cut the reading short."""
        texts, self.open = self.open, []
        self.taken = self.taken or bool(texts)
        return texts

    def take_remarks(self) -> list[str]:
        """Hand over the oddities."""
        texts, self.remarks = self.remarks, []
        return texts


def amount(count: int) -> str:
    """Return bytes as ``64 GiB``, ``1.5 MiB``, ``812 bytes``."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.1f}".removesuffix(".0") + f" {unit}"
    return "1 byte" if count == 1 else f"{count} bytes"
