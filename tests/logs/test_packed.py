"""Packed and re-encoded logs give what the bare log gives."""

import gzip
import hashlib
import io
import itertools
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.expectation import SAMPLES
from tests.logs.packing import CODECS, WAYS, encrypted_zip, tarred, zipped
from tests.logs.test_sources import Dribble, whole
from vdiag.engine.diagnose import Engine
from vdiag.errors import InputError
from vdiag.logs.inputs import open_stream
from vdiag.logs.limits import Limits
from vdiag.report.json import to_dict
from vdiag.rules.cache import load

CRASH = SAMPLES / "flagship" / "timeout_one_rank_033.log"
HEALTHY = SAMPLES / "real" / "h200" / "healthy.log"
ENGINE = Engine.of(load())


def bare_of(value, name):
    """Replace the name of the input wherever a report says it."""
    if isinstance(value, dict):
        return {key: bare_of(item, name) for key, item in value.items()}
    if isinstance(value, list):
        return [bare_of(item, name) for item in value]
    return "INPUT" if value == name else value


def said(data, name="server.log"):
    """Return runs and verdicts of one input, its name left out, and the input."""
    report = ENGINE.report(open_stream(name, data), "test")
    (item,) = report.inputs
    both = to_dict(report)
    return bare_of([both["verdicts"], both["runs"]], item.name), item


@pytest.mark.parametrize("log", [CRASH, HEALTHY], ids=["crash", "healthy"])
@pytest.mark.parametrize("way", WAYS)
def test_a_packed_log_is_the_log(way, log):
    """Verdict, facts, evidence and line numbers do not depend on the packing."""
    pack, compression, suffix = WAYS[way]
    data = log.read_bytes()
    bare, plain = said(io.BytesIO(data))

    got, item = said(io.BytesIO(pack(data)))

    assert got == bare
    assert (item.name, item.compression) == (f"server.log{suffix}", compression)
    assert (item.bytes, item.lines, item.problems) == (plain.bytes, plain.lines, [])


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-8"])
@pytest.mark.parametrize("log", [CRASH, HEALTHY], ids=["crash", "healthy"])
def test_a_log_with_a_byte_order_mark_is_the_log(log, encoding):
    """PowerShell writes UTF-16; lines are those of the decoded text."""
    text = log.read_bytes().decode("utf-8")
    bare, plain = said(io.BytesIO(log.read_bytes()))

    got, item = said(io.BytesIO(("\ufeff" + text).encode(encoding)))

    assert got == bare
    assert (item.encoding, item.lines) == (
        encoding.removesuffix("-le").removesuffix("-be"),
        plain.lines,
    )


@pytest.mark.parametrize("codec", CODECS)
def test_frames_one_after_the_other_are_one_log(codec):
    """`cat a.gz b.gz` is what unpacks to a and b."""
    data = CRASH.read_bytes()
    half = data.index(b"\n", len(data) // 2) + 1
    pack = CODECS[codec]

    got, item = said(io.BytesIO(pack(data[:half]) + pack(b"") + pack(data[half:])))

    assert got == said(io.BytesIO(data))[0]
    assert item.complete


@pytest.mark.parametrize("codec", CODECS)
def test_a_truncated_file_is_read_as_far_as_it_goes(codec):
    """The part that is there gets its verdict, and the input says where it ends."""
    data = CRASH.read_bytes() * 5
    packed = CODECS[codec](data)

    (source,) = open_stream("x", io.BytesIO(packed[: len(packed) * 9 // 10]))
    text = whole(source)

    assert data.startswith(text)
    assert source.problems == [f"truncated {codec}: ends after {len(text)} unpacked bytes"]
    assert not source.complete


def test_a_gzip_without_its_last_byte_loses_no_text():
    """The check at the end is no text."""
    data = CRASH.read_bytes()

    got, item = said(io.BytesIO(gzip.compress(data)[:-1]))

    assert got == said(io.BytesIO(data))[0]
    assert item.problems == [f"truncated gzip: ends after {len(data)} unpacked bytes"]
    assert not item.complete


@pytest.mark.parametrize("tail", [b"garbage", b"\0" * 600 + b"garbage"])
def test_garbage_behind_gzip_is_noted(tail):
    """What follows is no log; the log is whole."""
    data = CRASH.read_bytes()

    got, item = said(io.BytesIO(gzip.compress(data) + tail))

    assert got == said(io.BytesIO(data))[0]
    assert item.complete
    assert len(item.problems) == 1
    assert "something else follows the gzip data" in item.problems[0]


def test_zeros_that_fill_up_a_block_are_not_noted():
    """Tapes and some tools pad with zeros."""
    assert said(io.BytesIO(gzip.compress(CRASH.read_bytes()) + b"\0" * 700))[1].problems == []


@pytest.mark.parametrize("at", [0.3, 0.9])
@pytest.mark.parametrize("codec", CODECS)
def test_damage_inside_is_noted_and_what_stands_before_is_read(codec, at):
    """A flipped byte ends the reading there, with a reason."""
    data = b"".join(b"line %d of a log that is long enough\n" % n for n in range(100_000))
    packed = bytearray(CODECS[codec](data))
    packed[int(len(packed) * at)] ^= 0x55

    (source,) = open_stream("x", io.BytesIO(bytes(packed)))
    text = whole(source)

    sound = int(len(data) * at / 2)
    assert text[:sound] == data[:sound]
    assert not source.complete
    assert source.problems[0].startswith((f"damaged {codec} after ", f"truncated {codec}"))


def test_a_wrong_checksum_costs_no_text():
    """All that stood before the damage is read, down to the byte."""
    data = b"".join(b"line %d\n" % n for n in range(1000))
    packed = bytearray(gzip.compress(data))
    packed[-6] ^= 1

    (source,) = open_stream("x", io.BytesIO(bytes(packed)))

    assert whole(source) == data
    assert source.problems == [
        f"damaged gzip after {len(data)} unpacked bytes: error -3 while decompressing data: "
        "incorrect data check"
    ]


def sources_in(data, **limits):
    """Yield the sources, each of them kept as the engine keeps a log of vLLM's."""
    for source in open_stream("x", io.BytesIO(data), Limits(**limits)):
        if source.origin is not None and source.error is None:
            source.origin.kept += 1
        yield source


def names_in(data, **limits):
    """Return the text of each source by its name; of one that failed, its error."""
    out = {}
    for source in sources_in(data, **limits):
        try:
            out[source.name] = whole(source)
        except InputError as error:
            out[source.name] = str(error)
    return out


def test_members_come_in_their_order_with_tidy_names():
    """Where a member would be unpacked to is no part of its name."""
    members = {"./b.log": b"b\n", "/var/log/a.log": b"a\n", "c\\d.log": b"d\n"}
    shown = {"x!b.log": b"b\n", "x!var/log/a.log": b"a\n", "x!c/d.log": b"d\n"}

    assert list(names_in(tarred(members)).items()) == list(shown.items())
    assert list(names_in(zipped(members)).items()) == list(shown.items())


def test_hidden_members_and_what_macos_adds_are_passed_over():
    """Neither is a log."""
    members = {"._a.log": b"x\n", "__MACOSX/a.log": b"x\n", ".git/log": b"x\n", "a.log": b"a\n"}

    assert names_in(zipped(members)) == {"x!a.log": b"a\n"}


@pytest.mark.parametrize("pack", [tarred, zipped])
def test_a_name_that_leads_out_is_refused_and_the_others_are_read(pack):
    """One line says so, whatever the number of such members."""
    got = names_in(pack({"../../a.log": b"no\n", "b.log": b"b\n", "c/../d.log": b"no\n"}))

    assert got["x!b.log"] == b"b\n"
    assert got["x"].startswith("x: ../../a.log and 1 more: not read, the name leads out")
    assert len(got) == 2


def test_links_and_devices_in_a_tar_are_never_followed():
    """They are counted among what is left out."""
    import tarfile

    link = tarfile.TarInfo("link.log")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    device = tarfile.TarInfo("null.log")
    device.type = tarfile.CHRTYPE
    data = tarred({"link": link, "null": device, "server.log": CRASH.read_bytes()})

    report = ENGINE.report(open_stream("x.tar", io.BytesIO(data)), "test")

    assert [item.name for item in report.inputs] == ["x.tar!server.log"]
    assert report.notes == ["x.tar: left out 2 files (1 link, 1 device)"]


@pytest.mark.parametrize("form", ["gnu", "pax"])
def test_of_a_sparse_member_the_holes_are_left_out(tmp_path, form):
    """`tar -S` stores a log with holes as its pieces; lines keep their numbers."""
    import shutil
    import subprocess

    if (
        "GNU tar"
        not in subprocess.run(
            [shutil.which("tar") or "true", "--version"], capture_output=True, text=True, check=True
        ).stdout
    ):
        pytest.skip("needs GNU tar")
    lines = [b"line %d\n" % n for n in range(60)]
    with (tmp_path / "holes.log").open("wb") as out:
        out.seek(1 << 20)
        for n, line in enumerate(lines):
            out.seek((n + 16) * 65536)
            out.write(line)
    (tmp_path / "next.log").write_bytes(b"next\n")
    command = ["tar", f"--format={form}", "-Scf", "x.tar", "holes.log", "next.log"]
    subprocess.run(command, cwd=tmp_path, check=True)

    got = {}
    for source in sources_in((tmp_path / "x.tar").read_bytes()):
        got[source.name] = whole(source).replace(b"\0", b"")

    assert got == {"x!holes.log": b"".join(lines), "x!next.log": b"next\n"}


def test_an_encrypted_member_is_one_clear_line():
    """Its neighbours are still read."""
    got = names_in(encrypted_zip("a.log", b"secret\n"))

    assert got == {
        "x": "x: a.log: encrypted; unzip the archive with its password and name its files"
    }


def test_packing_stops_at_the_third_layer():
    """A log in a zip in a zip is read, one layer more is refused."""
    once = zipped({"a.log": b"a\n"})
    twice = zipped({"in.zip": once})
    thrice = zipped({"out.zip": twice})
    gz = gzip.compress(gzip.compress(gzip.compress(b"a\n")))

    assert names_in(twice) == {"x!in.zip!a.log": b"a\n"}
    assert "archive in an archive in an archive" in names_in(thrice)["x!out.zip!in.zip"]
    assert "compressed more than twice" in names_in(gz)["x"]


@pytest.mark.parametrize("pack", [tarred, zipped])
def test_a_truncated_archive_gives_the_members_before_the_cut(pack):
    """The member that the cut lies in is read as far as it goes."""
    noise = b"".join(hashlib.sha256(bytes([n])).hexdigest().encode() for n in range(200)) + b"\n"
    packed = pack({"a.log": b"a\n", "b.log": noise, "c.log": b"c\n"})

    sources = {}
    for source in sources_in(packed[: packed.index(b"b.log") + 4000]):
        sources[source.name] = (whole(source), source.complete, source.problems)

    assert sources["x!a.log"] == (b"a\n", True, [])
    assert noise.startswith(sources["x!b.log"][0])
    assert sources["x!b.log"][0]
    assert len(sources["x!b.log"][2]) == 1
    assert "truncated" in sources["x!b.log"][2][0]
    assert list(sources) == ["x!a.log", "x!b.log"]


def test_a_truncated_compressed_tar_says_so_once():
    """One cut is one problem."""
    packed = gzip.compress(tarred({"a.log": b"a\n" * 500, "b.log": CRASH.read_bytes()}))

    problems = []
    for source in sources_in(packed[: len(packed) // 2]):
        whole(source)
        problems += source.problems

    assert len(problems) == 1
    assert problems[0].startswith("truncated gzip: ends after")


@pytest.mark.parametrize(
    ("data", "said_"),
    [
        (b"\x04\x22\x4d\x18rest", "lz4 -dc"),
        (b"7z\xbc\xaf\x27\x1crest", "7z x"),
    ],
)
def test_packings_that_are_not_read_say_how_to_unpack(data, said_):
    """One line with the command."""
    assert said_ in names_in(data)["x"]


def test_too_many_members_stop_the_reading_with_a_line():
    """What came before is read."""
    members = {f"{n}.log": b"a\n" for n in range(5)}

    got = names_in(zipped(members), members=3)

    assert [name for name in got if "!" in name] == ["x!0.log", "x!1.log", "x!2.log"]
    assert "holds more than 3 members" in got["x"]


def test_the_ratio_stops_a_bomb_and_not_a_repetitive_log():
    """Only what unpacks to very much more than its size is stopped."""
    flood = b"INFO 12-01 10:00:00 [a.py:1] the same line again\n" * 100_000
    packed = gzip.compress(flood)

    (calm,) = open_stream("x", io.BytesIO(packed), Limits(ratio_from=1 << 20))
    (bomb,) = open_stream("x", io.BytesIO(packed), Limits(ratio_from=1 << 20, ratio=100))

    assert whole(calm) == flood
    assert flood.startswith(whole(bomb))
    assert "more than 100 times its size" in bomb.problems[0]
    assert bomb.size < 2 << 20


def test_the_size_limit_holds_over_all_members():
    """Many members of a legal size are as much as a large one."""
    members = {f"{n}.log": b"a line\n" * 20_000 for n in range(10)}
    total = 0

    for source in sources_in(zipped(members), output=300_000):
        if source.error is None:
            total += len(whole(source))

    assert total <= 300_000


def test_a_zip_with_another_method_counts_the_member_as_left_out():
    """Only the archive's own reader can tell what its rarest methods hold."""
    packed = bytearray(zipped({"a.log": b"a\n", "b.log": b"b\n"}, zipfile.ZIP_STORED))
    packed[8] = 9

    assert names_in(bytes(packed)) == {"x!b.log": b"b\n"}


class Failing(io.RawIOBase):
    """A file on a disk that fails."""

    def __init__(self, data):
        super().__init__()
        self.data = data

    def readable(self):
        """Say yes."""
        return True

    def readinto(self, buffer):
        """Give what there is, then fail."""
        part, self.data = self.data[: len(buffer)], self.data[len(buffer) :]
        if not part:
            raise OSError(5, "Input/output error")
        buffer[: len(part)] = part
        return len(part)


@pytest.mark.parametrize(
    "data",
    [b"", b"text\n" * 100, gzip.compress(CRASH.read_bytes())[:-9], tarred({"a": b"a\n" * 9})[:600]],
    ids=["nothing", "text", "gzip", "tar"],
)
def test_a_disk_that_fails_is_one_line(data):
    """Wherever in the layers it happens."""
    sources = list(open_stream("x", Failing(data)))

    with pytest.raises(InputError, match=r"^x(!a)?: cannot read: input/output error$"):
        for source in sources:
            whole(source)


@pytest.mark.parametrize("data", [b"", b"\x1f", b"\x1f\x8b", b"PK\x03\x04", b"BZh9", b"\xff\xfe"])
def test_no_beginning_of_a_file_raises(data):
    """However short a file is, it is an input or an error."""
    assert len(names_in(data)) <= 1


LINES = st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=60)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    lines=LINES,
    step=st.integers(1, 300),
    codecs=st.lists(st.sampled_from([*CODECS, None]), min_size=1, max_size=4),
    final=st.booleans(),
)
def test_no_boundary_changes_the_lines(lines, step, codecs, final):
    """However the bytes come and into however many frames they were cut, the lines stay."""
    data = b"A\n" + b"\n".join(lines) + b"\n" * final
    codec = codecs[0]
    if codec is None:
        packed = data
    else:
        cuts = [len(data) * n // len(codecs) for n in range(len(codecs) + 1)]
        parts = [data[a:b] for a, b in itertools.pairwise(cuts)]
        packed = b"".join(CODECS[codec](part) for part in parts)

    (source,) = open_stream("x", Dribble(packed, step))

    assert whole(source) == data
    assert source.complete


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=300), kind=st.sampled_from(sorted(WAYS)), at=st.integers(0, 4000))
def test_damaged_packing_never_raises_anything_else(data, kind, at):
    """A damaged or cut file gives text, a problem or an InputError."""
    packed = bytearray(WAYS[kind][0](CRASH.read_bytes()[:3000]))
    at %= len(packed)
    packed[at : at + len(data)] = data

    names_in(bytes(packed))
