"""Every envelope by a name, with the parameters that its tools have."""

from __future__ import annotations

from functools import partial

from . import Wrapper, stack, stamps
from .collectors import fluent_bit, grafana_txt, json_msg, logcli, loki_jsonl, vector
from .containers import compose, cri, docker_json, docker_logs_t
from .damage import (
    coloured,
    crlf,
    grep_coloured,
    invalid_utf8,
    nul_front,
    nul_hole,
    nul_tail,
    utf8_mark,
    utf16,
)
from .issues import bug_form, indented, quoted
from .journald import FORMATS, journald
from .kubernetes import kubectl, stern, stern_json
from .launchers import parallel_tag, pdsh, ray, srun, torchrun
from .stamps import stamped

LAUNCHERS: dict[str, Wrapper] = {
    "ray": ray,
    "ray-other-node": partial(ray, ip="192.0.2.11"),
    "ray-proc-no-colour": partial(ray, actor="RayWorkerProc", ip="192.0.2.11", colour=False),
    "srun": srun,
    "srun-16-tasks": partial(srun, tasks=16, per_rank=True),
    "srun-16-tasks-zeros": partial(srun, tasks=16, per_rank=True, zeros=True),
    "torchrun": torchrun,
    "torchrun-8-ranks": partial(torchrun, per_rank=True),
    "torchrun-rank-template": partial(torchrun, template="[rank{rank}]:", per_rank=True),
    "parallel-tag": parallel_tag,
    "pdsh": pdsh,
}
COLLECTORS: dict[str, Wrapper] = {
    **{f"journald-{form}-all": partial(journald, form=form, all=True) for form in FORMATS},
    "journald-json": partial(journald, form="json"),
    "docker-json": docker_json,
    "docker-json-parts": partial(docker_json, limit=1024),
    "docker-json-parts-mixed": partial(docker_json, limit=512, mixed=True),
    "docker-logs-timestamps": docker_logs_t,
    "compose": compose,
    "compose-colour": partial(compose, colour=True),
    "compose-timestamps": partial(compose, stamps=True),
    "compose-colour-timestamps": partial(compose, colour=True, stamps=True),
    "compose-up": partial(compose, name="vllm", attached=True),
    "compose-beside-another": partial(compose, beside="prometheus-1", colour=True),
    "cri": cri,
    "cri-parts": partial(cri, limit=200),
    "cri-parts-mixed": partial(cri, limit=200, mixed=True),
    "cri-offset": partial(cri, zone="+00:00", limit=8192),
    "kubectl-prefix": partial(kubectl, prefix=True),
    "kubectl-timestamps": partial(kubectl, stamps=True),
    "kubectl-both": partial(kubectl, prefix=True, stamps=True),
    "stern": stern,
    "stern-colour": partial(stern, colour=True),
    "stern-timestamps": partial(stern, stamps=True),
    "stern-json": stern_json,
    "loki-jsonl": loki_jsonl,
    "logcli": logcli,
    "logcli-no-labels": partial(logcli, labels=False),
    "grafana-txt": grafana_txt,
    "fluent-bit": fluent_bit,
    "fluent-bit-no-newline": partial(fluent_bit, newline=False),
    "vector": vector,
    "vector-pod": partial(vector, pod=True),
    "json-msg": json_msg,
    "json-message": partial(json_msg, key="message"),
    "ts": stamped,
    "stamp-iso": partial(stamped, form=stamps.ISO),
    "stamp-brackets": partial(stamped, form=stamps.BRACKETS),
    "stamp-python": partial(stamped, form=stamps.PYTHON),
    "stamp-rfc3339": partial(stamped, form=stamps.RFC3339),
    "stamp-millis": partial(stamped, form=stamps.MILLIS_Z),
    "stamp-8-hours-on": partial(stamped, form=stamps.RFC3339_EAST, hours=8),
    "ts-8-hours-back": partial(stamped, form=stamps.TS, hours=-8),
}
PEOPLE: dict[str, Wrapper] = {
    "issue": bug_form,
    "issue-no-language": partial(bug_form, fence="```"),
    "issue-long-fence": partial(bug_form, fence="`````log"),
    "issue-tildes": partial(bug_form, fence="~~~"),
    "issue-pasted": partial(bug_form, pasted=True),
    "issue-two-fences": partial(bug_form, cut=True),
    "comment-quoted": quoted,
    "comment-quoted-fence": partial(quoted, fenced=True),
    "comment-indented": indented,
}
BYTES: dict[str, Wrapper] = {
    "crlf": crlf,
    "utf-16-le": utf16,
    "utf-16-be": partial(utf16, order="be"),
    "utf-16-powershell": partial(utf16, powershell=True),
    "utf-8-mark": utf8_mark,
    "invalid-utf-8": invalid_utf8,
    "coloured": coloured,
    "grep-coloured": grep_coloured,
    "nul-hole": nul_hole,
    "nul-front": nul_front,
    "nul-tail": nul_tail,
}
STACKS: dict[str, Wrapper] = {
    "ray in kubectl": stack(ray, partial(kubectl, prefix=True)),
    "ray in cri, long lines cut": stack(partial(ray, ip="192.0.2.11"), partial(cri, limit=512)),
    "torchrun in compose": stack(torchrun, partial(compose, colour=True)),
    "srun in journald short": stack(
        partial(srun, tasks=16, per_rank=True), partial(journald, form="short", all=True)
    ),
    "srun in journald json": stack(srun, partial(journald, form="json", all=True)),
    "ray in docker json": stack(ray, docker_json),
    "docker json in loki, no docker stage": stack(docker_json, loki_jsonl),
    "cri in loki, no cri stage": stack(cri, loki_jsonl),
    "cri in fluent bit, no parser": stack(cri, partial(fluent_bit, newline=False)),
    "docker timestamps in compose": stack(docker_logs_t, compose),
    "colours in docker json": stack(coloured, docker_json),
    "colours in journald json": stack(coloured, partial(journald, form="json", all=True)),
    "colours in journald export": stack(coloured, partial(journald, form="export")),
    "kubectl in an issue": stack(partial(kubectl, prefix=True, stamps=True), bug_form),
    "journald in an issue": stack(partial(journald, form="short", all=True), bug_form),
    "docker json in an issue": stack(docker_json, bug_form),
    "ray in kubectl in a quote": stack(ray, partial(kubectl, prefix=True), quoted),
    "issue through a terminal": stack(bug_form, crlf),
    "journald short through a terminal": stack(partial(journald, form="short", all=True), crlf),
    "docker json in UTF-16": stack(docker_json, partial(utf16, powershell=True)),
    "kubectl in UTF-16": stack(partial(kubectl, prefix=True), partial(utf16, powershell=True)),
    "ts before kubectl": stack(partial(kubectl, prefix=True), stamped),
    "ts before compose": stack(compose, partial(stamped, form=stamps.BRACKETS)),
    "kubectl timestamps with a hole": stack(partial(kubectl, stamps=True), nul_hole),
    "pdsh before journald": stack(partial(journald, form="short-iso", all=True), pdsh),
}
LOSSLESS: dict[str, Wrapper] = {**LAUNCHERS, **COLLECTORS, **PEOPLE, **BYTES, **STACKS}
