"""Kernel messages next to the crash: which of them change the diagnosis."""

from __future__ import annotations

from .. import failure as f
from ..outside import dmesg, xid
from ..release import V0320, V0330
from ..sample import Expect, scenario
from ..server import Server
from ..startup import startup
from ..traffic import load, stats
from ..writer import Log, journald_short
from .common import CAPTURE, FLAGSHIP, FUSED, confirmed, crash, errors, finish, first

_BUS = "GPU has fallen off the bus."
_CGA = "Graphics SM Cga Exception on (GPC 2, TPC 5, SM 1): CTA Not Present"
_MMU = (
    "Ch 0000001b, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC3 GPCCLIENT_T1_4 faulted @ "
    "0x7f3c_44000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_WRITE"
)
_ECC = "Uncontained: Legacy Mode, Uncorrectable ECC error"


def _hardware(faulting: str, **over: object) -> Expect:
    expect: Expect = {
        "status": "confirmed",
        "root": "gpu-xid",
        "outcome": "crashed",
        "runs": 1,
        "considered": {FLAGSHIP: "ruled-out"},
        "because": {FLAGSHIP: "(?i)xid"},
        "evidence": ["NVRM: Xid"],
        "first_failure": first(faulting),
        "not_roots": [FLAGSHIP, FUSED, CAPTURE],
        "exit": 1,
    }
    return expect | over


def _with_kernel_line(number: int, text: str, pid: int | None) -> Log:
    server = Server()
    log = Log(V0330)
    startup(log, server)
    load(log, server)
    xid(log, number, text, pid)
    log.tick(1)
    errors(log, [server.worker(5)])
    finish(log, server, [server.worker(5)])
    return log


@scenario("xid/xid79_before_journald_033")
def xid79() -> tuple[str, Expect]:
    """0.33.0 in a merged journal: Xid 79 one second before TP5's CUDA error."""
    log = _with_kernel_line(79, _BUS, None)
    return journald_short(log), _hardware("Worker_TP5", facts={"driver.xid": 79})


@scenario("xid/xid94_dmesg_pasted_after_pid_032")
def xid94_pid() -> tuple[Log, Expect]:
    """0.32.0: dmesg is pasted below the log, but Xid 94 names the faulting worker's pid."""
    server = Server(V0320)
    log = crash(server, [5])
    dmesg(log, 94, _ECC, server.worker(5).pid, "10:03:13")
    return log, _hardware("Worker_TP5")


@scenario("xid/xid48_dmesg_block_first_033")
def xid48_block() -> tuple[Log, Expect]:
    """0.33.0: a dmesg excerpt with Xid 48 stands before the log; its facts go to the next run."""
    log = Log(V0330)
    dmesg(log, 48, "DBE (double bit error) at 0x2c7b40, SBE 0, DBE 1", None, "10:03:12")
    return crash(Server(), [3], log=log), _hardware("Worker_TP3")


@scenario("xid/xid13_before_033")
def xid13() -> tuple[str, Expect]:
    """0.33.0: Xid 13 `CTA Not Present` before the error is a fingerprint, not an exclusion."""
    return journald_short(_with_kernel_line(13, _CGA, 897)), confirmed(
        ["Worker_TP5"], open_refuters=["(?i)flashinfer"]
    )


@scenario("xid/xid31_before_033")
def xid31() -> tuple[Log, Expect]:
    """0.33.0: Xid 31 (MMU fault) before the error does not exclude the flagship either."""
    return _with_kernel_line(31, _MMU, 897), confirmed(
        ["Worker_TP5"], open_refuters=["(?i)flashinfer"]
    )


@scenario("xid/xid79_long_after_033")
def xid79_after() -> tuple[str, Expect]:
    """0.33.0: Xid 79 comes minutes after the crash and names no worker: no cause."""
    server = Server()
    log = crash(server, [5])
    log.tick(900)
    xid(log, 79, _BUS, None)
    return journald_short(log), confirmed(["Worker_TP5"], open_refuters=["(?i)flashinfer"])


@scenario("xid/xid43_of_another_job_healthy_033")
def xid43_survived() -> tuple[str, Expect]:
    """0.33.0: Xid 43 of another job's process in the journal of a server that keeps serving."""
    server = Server(backend="trtllm", hisparse=False)
    log = Log(V0330)
    startup(log, server)
    load(log, server, metrics=False)
    xid(log, 43, "Ch 00000008", 20311, "python3")
    for _ in range(3):
        log.tick(10)
        stats(log, server, 8, 41.0)
    f.orderly_stop(log, server, noise=False)
    return journald_short(log), {"status": "clean", "root": None, "outcome": "stopped", "exit": 0,
                                 "not_roots": ["gpu-xid"]}  # fmt: skip
