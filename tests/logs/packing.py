"""Packs bytes in every form that vdiag reads, with other tools' code than vdiag's."""

import bz2
import gzip
import io
import lzma
import sys
import tarfile
import zipfile

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CODECS = {
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    # With the checksum that the command-line tool writes.
    "zstd": lambda data: zstd.compress(
        data, options={zstd.CompressionParameter.checksum_flag: True}
    ),
}


def tarred(members, mode="w", format_=tarfile.GNU_FORMAT):
    """Return a tar of {name: bytes or TarInfo}."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=format_) as tar:
        for name, data in members.items():
            if isinstance(data, tarfile.TarInfo):
                tar.addfile(data)
                continue
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


class Unseekable(io.RawIOBase):
    """Where a zip is written to that cannot go back to fill in sizes."""

    def __init__(self):
        super().__init__()
        self.data = b""

    def writable(self):
        """Say yes."""
        return True

    def write(self, data):
        """Take bytes."""
        self.data += bytes(data)
        return len(data)


def zipped(members, method=zipfile.ZIP_DEFLATED, *, seekable=True):
    """Return a zip of {name: bytes}."""
    out = io.BytesIO() if seekable else Unseekable()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue() if seekable else out.data


def encrypted_zip(name, data):
    """Return a zip whose one member has the flag of encryption."""
    packed = bytearray(zipped({name: data}, zipfile.ZIP_STORED))
    packed[6] |= 1
    packed[packed.index(b"PK\x01\x02") + 8] |= 1
    return bytes(packed)


WAYS = {
    **{name: (pack, name, "") for name, pack in CODECS.items()},
    "tar": (lambda data: tarred({"dir/server.log": data}), "tar", "!dir/server.log"),
    "tar-pax": (
        lambda data: tarred({"ü" * 90 + ".log": data}, format_=tarfile.PAX_FORMAT),
        "tar",
        "!" + "ü" * 90 + ".log",
    ),
    "tar-long": (
        lambda data: tarred({"d/" * 80 + "a.log": data}),
        "tar",
        "!" + "d/" * 80 + "a.log",
    ),
    **{
        f"tar+{name}": (
            lambda data, pack=pack: pack(tarred({"server.log": data})),
            f"tar+{name}",
            "!server.log",
        )
        for name, pack in CODECS.items()
    },
    "zip": (lambda data: zipped({"dir/server.log": data}), "zip", "!dir/server.log"),
    "zip-stored": (lambda data: zipped({"a.log": data}, zipfile.ZIP_STORED), "zip", "!a.log"),
    "zip-bzip2": (lambda data: zipped({"a.log": data}, zipfile.ZIP_BZIP2), "zip", "!a.log"),
    "zip-piped": (lambda data: zipped({"a.log": data}, seekable=False), "zip", "!a.log"),
    "gzip+zip": (lambda data: zipped({"a.gz": CODECS["gzip"](data)}), "gzip+zip", "!a.gz"),
    "zstd+tar": (lambda data: tarred({"a": CODECS["zstd"](data)}), "zstd+tar", "!a"),
    "gzip+gzip": (lambda data: CODECS["gzip"](CODECS["gzip"](data)), "gzip+gzip", ""),
    "tar+zip": (
        lambda data: zipped({"in.tar": tarred({"a.log": data})}),
        "tar+zip",
        "!in.tar!a.log",
    ),
    "zip+tar+xz": (
        lambda data: CODECS["xz"](tarred({"in.zip": zipped({"a.log": data})})),
        "zip+tar+xz",
        "!in.zip!a.log",
    ),
}
"""Name of the way: how to pack, what the report calls it, what is added to the name."""
