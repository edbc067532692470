"""Folders, patterns and what is no file."""

import io
import os
import socket
import stat
import threading

import pytest

from tests.expectation import SAMPLES
from tests.logs.packing import CODECS, tarred, zipped
from tests.logs.test_sources import whole
from vdiag.engine.diagnose import Engine
from vdiag.errors import InputError
from vdiag.logs.encodings import looks_foreign
from vdiag.logs.inputs import open_inputs, open_path
from vdiag.logs.limits import Limits
from vdiag.logs.places import natural, resolve
from vdiag.logs.streams import Peeked
from vdiag.rules.cache import load

CRASH = (SAMPLES / "flagship" / "timeout_one_rank_033.log").read_bytes()
ENGINE = Engine.of(load())


def analyse(*names):
    """Return the report on what is named, and the texts of the errors."""
    report, errors = ENGINE.report_all(open_inputs([str(name) for name in names]), "test")
    return report, [str(error) for error in errors]


@pytest.fixture
def folder(tmp_path):
    """Return a folder with logs and much that is none."""
    root = tmp_path / "logs"
    (root / "node10").mkdir(parents=True)
    (root / "node2").mkdir()
    (root / ".hidden").mkdir()
    (root / "node10" / "server.log").write_bytes(CRASH)
    (root / "node2" / "server.log").write_bytes(CRASH)
    (root / ".hidden" / "server.log").write_bytes(CRASH)
    (root / "README.md").write_text("# nothing of interest\n")
    (root / "core.1").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 40)
    (root / "empty.log").touch()
    os.mkfifo(root / "pipe.log")
    return root


def test_a_folder_gives_its_logs_in_natural_order_and_counts_the_rest(folder):
    """What is no log of vLLM's is no error."""
    report, errors = analyse(folder)

    assert [item.name for item in report.inputs] == [
        f"{folder}/node2/server.log",
        f"{folder}/node10/server.log",
    ]
    assert errors == []
    assert report.notes == [
        f"{folder}: left out 4 files (1 not regular, 1 without anything of vLLM's, 1 no text, "
        "1 empty)"
    ]


def test_archives_in_a_folder_give_their_members(folder):
    """A member is named by its folder, its archive and its own path."""
    (folder / "old.zip").write_bytes(zipped({"dir/server.log": CRASH, "notes.txt": b"x\n"}))

    report, errors = analyse(folder)

    assert f"{folder}/old.zip!dir/server.log" in [item.name for item in report.inputs]
    assert errors == []


def test_a_folder_without_a_log_is_one_clear_error(tmp_path):
    """The error counts what there is."""
    (tmp_path / "a.bin").write_bytes(b"\x7fELF\x02\x01\x01\x00" + bytes(range(32)) * 99)
    (tmp_path / "b.txt").write_text("hello\n")

    report, errors = analyse(tmp_path)

    assert report.inputs == []
    assert errors == [
        f"{tmp_path}: no vLLM log in this folder (1 no text, 1 without anything of vLLM's); name "
        "the server's log files"
    ]


def test_loops_of_links_end_and_no_file_is_read_twice(folder):
    """A link back up is not followed again; a link to a log in the folder adds nothing."""
    (folder / "again").symlink_to(folder)
    (folder / "aaa.log").symlink_to(folder / "node2" / "server.log")
    (folder / "dangling.log").symlink_to(folder / "nowhere")

    report, errors = analyse(folder)

    assert len(report.inputs) == 2
    assert errors == []


def test_a_link_to_a_log_elsewhere_is_followed(tmp_path):
    """Kubernetes keeps a folder of links."""
    (tmp_path / "links").mkdir()
    (tmp_path / "server.log").write_bytes(CRASH)
    (tmp_path / "links" / "pod.log").symlink_to(tmp_path / "server.log")

    assert [item.name for item in analyse(tmp_path / "links")[0].inputs] == [
        f"{tmp_path}/links/pod.log"
    ]


def test_a_file_that_begins_with_a_hole_is_still_a_log(tmp_path):
    """Rotation by copying leaves NUL bytes in front of what is written afterwards."""
    (tmp_path / "server.log").write_bytes(bytes(200_000) + b"\n" + CRASH)

    report, _ = analyse(tmp_path)

    assert report.verdict.status == "confirmed"


@pytest.mark.parametrize(
    ("data", "foreign"),
    [
        (b"", False),
        (b"plain text\n" * 100, False),
        (b"text\n" * 100 + bytes(50_000) + b"text\n" * 100, False),
        ("Zürich 快\n".encode("latin-1", "replace") * 100, False),
        (b"\x1b[1;36m coloured \x1b[0;0m\r\n" * 100, False),
        ("\ufefftext\n".encode("utf-16-le") * 100, False),
        (b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00>\x00" * 500, True),
        ((90_000).to_bytes(8, "little") + b'{"__metadata__":{}}' * 5000, True),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, True),
        (CODECS["zstd"](CRASH)[4:], True),
    ],
)
def test_data_is_told_from_text_by_its_beginning(data, foreign):
    """Holes, colours and other encodings make no log foreign."""
    assert looks_foreign(Peeked(io.BytesIO(data))) is foreign


def test_too_many_files_are_refused(folder):
    """A folder of a whole disk is not walked."""
    with pytest.raises(InputError, match="holds more than 2 files; name the log files in it"):
        resolve(str(folder), Limits(members=2))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_one_line(tmp_path):
    """What next is told by the system's own words."""
    path = tmp_path / "server.log"
    path.write_bytes(CRASH)
    path.chmod(0)

    assert analyse(path)[1] == [f"{path}: cannot open: permission denied"]


def test_patterns_are_expanded_where_no_such_file_exists(folder):
    """A quoted pattern, or one on a shell that expands nothing."""
    report, errors = analyse(folder / "node*" / "*.log")

    assert [item.name for item in report.inputs] == [
        f"{folder}/node2/server.log",
        f"{folder}/node10/server.log",
    ]
    assert errors == []


def test_a_file_whose_name_is_a_pattern_is_that_file(tmp_path):
    """What exists is meant literally."""
    (tmp_path / "a[1].log").write_bytes(b"literal\n")
    (tmp_path / "a1.log").write_bytes(b"pattern\n")

    assert whole(open_path(str(tmp_path / "a[1].log"))) == b"literal\n"


def test_a_pattern_that_matches_nothing_is_one_line(tmp_path):
    """It is no missing file."""
    with pytest.raises(InputError, match="no file matches this pattern"):
        open_path(str(tmp_path / "*.log"))


def test_a_named_pipe_is_refused_without_waiting(tmp_path):
    """A pipe without a writer would wait for ever."""
    path = tmp_path / "pipe"
    os.mkfifo(path)

    with pytest.raises(InputError, match=f"is a named pipe; use: cat {path} | vdiag analyze -"):
        open_path(str(path))


def test_sockets_and_devices_are_refused(tmp_path):
    """They are no logs."""
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        assert stat.S_ISSOCK(path.stat().st_mode)

        with pytest.raises(InputError, match="is a socket"):
            open_path(str(path))
    with pytest.raises(InputError, match="is a device"):
        open_path("/dev/zero")


def test_a_descriptor_that_the_shell_hands_over_is_read():
    """`vdiag analyze <(zcat server.log.gz)` names /dev/fd/63."""
    reader, writer = os.pipe()
    data = tarred({"server.log": CRASH})
    thread = threading.Thread(target=lambda: os.write(writer, data) and os.close(writer))
    thread.start()

    report, errors = analyse(f"/dev/fd/{reader}")
    thread.join()
    os.close(reader)

    assert errors == []
    assert report.inputs[0].name == f"/dev/fd/{reader}!server.log"
    assert report.verdict.status == "confirmed"


def test_natural_order_counts_numbers():
    """Node 2 comes before node 10, and a folder's own files stay together."""
    names = ["n10/a", "n2/b", "n2/a", "n2.log", "m"]

    assert sorted(names, key=natural) == ["m", "n2/a", "n2/b", "n2.log", "n10/a"]


def test_what_may_not_be_read_is_one_line_also_in_a_folder(folder, monkeypatch):
    """A named file is an error of its own; of those in a folder one line tells."""
    real = os.open

    def denied(path, *args, **kwargs):
        if str(path).endswith("server.log"):
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", denied)
    path = folder / "node2" / "server.log"

    assert analyse(path)[1] == [f"{path}: cannot open: permission denied"]
    assert analyse(folder)[1] == [
        f"{path}: cannot open: permission denied, and 1 more like it in {folder}"
    ]


def test_the_library_opens_what_the_command_line_opens(folder, tmp_path):
    """Folders, packed files and packed streams come through one door."""
    import gzip

    import vdiag

    packed = tmp_path / "x.gz"
    packed.write_bytes(gzip.compress(CRASH))

    report = vdiag.analyze(folder, packed, io.BytesIO(gzip.compress(CRASH)), names=["", "", "s"])

    assert [(item.name, item.compression) for item in report.inputs] == [
        (f"{folder}/node2/server.log", None),
        (f"{folder}/node10/server.log", None),
        (str(packed), "gzip"),
        ("s", "gzip"),
    ]
