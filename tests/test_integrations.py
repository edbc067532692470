# ruff: noqa: N815  # the names are those of Kubernetes
"""The examples in docs/integrations do what they say, as far as this machine allows."""

import os
import shutil
import subprocess
import sys
from typing import Literal

import pytest
import yaml
from pydantic import BaseModel, ConfigDict, Field

from tests.expectation import SAMPLES

DOCS = SAMPLES.parent / "docs" / "integrations"
CRASH = SAMPLES / "flagship" / "timeout_one_rank_033.log"
ROOT = "fi-mnnvl-hisparse-spill-crash"


@pytest.fixture
def bin_(tmp_path):
    """Return a folder for commands, with vdiag in it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    command(folder, "vdiag", f'exec "{sys.executable}" -m vdiag "$@"')
    return folder


def command(folder, name, body):
    """Write a command."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def run(folder, args, cwd, **env):
    """Run a program that finds our commands first."""
    path = f"{folder}:{os.environ['PATH']}"
    root = str(SAMPLES.parent)
    return subprocess.run(
        args, cwd=cwd, env={**os.environ, "PATH": path, "PYTHONPATH": root, **env},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("invocation", "expected"),
    [("0123abcd", "_SYSTEMD_INVOCATION_ID=0123abcd"), ("", "--boot --unit vllm.service")],
)
def test_the_unit_diagnoses_the_failed_invocation(tmp_path, bin_, invocation, expected):
    """The script asks for the invocation that failed and writes a redacted report on it."""
    command(bin_, "journalctl", f'echo "$@" > "{tmp_path}/asked"; cat "{CRASH}"')
    done = run(
        bin_, ["sh", str(DOCS / "systemd" / "vdiag-unit"), "vllm.service"], tmp_path,
        MONITOR_INVOCATION_ID=invocation, STATE_DIRECTORY=str(tmp_path),
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (1, "")
    assert (tmp_path / "asked").read_text().strip().endswith(expected)
    report = (tmp_path / "vllm.service.md").read_text()
    assert ROOT in report
    assert "/models/" not in report


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not here")
def test_systemd_accepts_the_units(tmp_path):
    """`systemd-analyze verify` has nothing to say about the unit and the drop-in."""
    unit = tmp_path / "vllm.service"
    unit.write_text("[Unit]\nDescription=x\n[Service]\nExecStart=/bin/true\n")
    shutil.copytree(DOCS / "systemd" / "vllm.service.d", tmp_path / "vllm.service.d")
    shutil.copy(DOCS / "systemd" / "vdiag@.service", tmp_path)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit), str(tmp_path / "vdiag@x.service")],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    said = [line for line in done.stderr.splitlines() if "vdiag" in line or "onfailure" in line]

    assert said == []
    assert (DOCS / "systemd" / "vdiag@.service").read_text().count("/usr/local/bin/vdiag-unit") == 2


class Strict(BaseModel):
    """A part of a schema: a key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Mount(Strict):
    """Kubernetes' VolumeMount."""

    name: str
    mountPath: str = Field(pattern="^/")


class Resources(Strict):
    """Kubernetes' ResourceRequirements."""

    limits: dict[str, str]


class Container(Strict):
    """Kubernetes' Container."""

    name: str = Field(pattern=r"^[a-z0-9-]+$")
    image: str
    command: list[str]
    args: list[str]
    volumeMounts: list[Mount]
    resources: Resources


class EmptyDir(Strict):
    """Kubernetes' EmptyDirVolumeSource."""

    sizeLimit: str


class Volume(Strict):
    """Kubernetes' Volume."""

    name: str
    emptyDir: EmptyDir


class PodSpec(Strict):
    """Kubernetes' PodSpec."""

    containers: list[Container]
    volumes: list[Volume]


class Labels(Strict):
    """Kubernetes' ObjectMeta of a template."""

    labels: dict[str, str]


class Meta(Labels):
    """Kubernetes' ObjectMeta."""

    name: str


class Template(Strict):
    """Kubernetes' PodTemplateSpec."""

    metadata: Labels
    spec: PodSpec


class Selector(Strict):
    """Kubernetes' LabelSelector."""

    matchLabels: dict[str, str]


class DeploymentSpec(Strict):
    """Kubernetes' DeploymentSpec."""

    replicas: int
    selector: Selector
    template: Template


class Deployment(Strict):
    """Kubernetes' Deployment."""

    apiVersion: Literal["apps/v1"]
    kind: Literal["Deployment"]
    metadata: Meta
    spec: DeploymentSpec


def deployment():
    """Return the example, checked."""
    text = (DOCS / "kubernetes" / "sidecar.yaml").read_text()
    return Deployment.model_validate(yaml.safe_load(text))


def test_the_deployment_is_well_formed():
    """It has the form of a Deployment, its labels select it and its mounts have volumes."""
    made = deployment()
    spec = made.spec.template.spec

    assert made.spec.selector.matchLabels == made.spec.template.metadata.labels
    volumes = {volume.name for volume in spec.volumes}
    assert {mount.name for one in spec.containers for mount in one.volumeMounts} == volumes


def test_the_sidecar_diagnoses_a_server_that_was_started_again(tmp_path, bin_):
    """A second start moves the crash's log aside; the sidecar reports on it, once."""
    server, sidecar = deployment().spec.template.spec.containers
    command(bin_, "vllm", f'cat "{CRASH}"; exit 1')
    for _ in range(2):
        done = run(bin_, ["bash", "-c", server.args[0]], tmp_path, LOGS=str(tmp_path))
        assert done.returncode == 1  # the container must fail as the server does
    shown = [
        run(bin_, ["sh", "-c", sidecar.args[0]], tmp_path, LOGS=str(tmp_path), ONCE="1").stdout
        for _ in range(2)
    ]

    assert ROOT in shown[0]
    assert shown[1] == ""
    reports = list(tmp_path.glob("failed-*.md"))
    assert len(reports) == 1
    assert ROOT in reports[0].read_text()


class Step(Strict):
    """A step of a GitHub workflow."""

    name: str | None = None
    uses: str | None = None
    run: str | None = None
    env: dict[str, str] = {}
    condition: str | None = Field(default=None, alias="if")
    inputs: dict[str, str] = Field(default={}, alias="with")


class Job(Strict):
    """A job of a GitHub workflow."""

    runs_on: list[str] = Field(alias="runs-on")
    steps: list[Step]


class Workflow(Strict):
    """A GitHub workflow."""

    name: str
    on: list[Literal["pull_request", "push"]]
    permissions: dict[str, Literal["read", "write", "none"]]
    jobs: dict[str, Job]


def test_the_workflow_comments_and_keeps_a_redacted_log(tmp_path, bin_):
    """Its steps have the form of a workflow, and do what they are there for."""
    data = yaml.safe_load((DOCS / "github" / "diagnose.yml").read_text())
    data["on"] = data.pop(True)  # YAML 1.1 reads the key as a boolean
    steps = Workflow.model_validate(data).jobs["serve"].steps
    assert all((step.uses is None) != (step.run is None) for step in steps)
    shutil.copy(CRASH, tmp_path / "server.log")
    summary = tmp_path / "summary.md"
    command(bin_, "gh", f'echo "$@" > "{tmp_path}/gh"; cat comment.md > "{tmp_path}/posted"')

    for step in steps:
        if step.run is not None and step.condition == "failure()":
            done = run(bin_, ["bash", "-e", "-c", step.run], tmp_path,
                       GITHUB_STEP_SUMMARY=str(summary), PR="12")  # fmt: skip
            assert done.returncode == 0, done.stderr

    assert (tmp_path / "gh").read_text().split()[:3] == ["pr", "comment", "12"]
    for path in (summary, tmp_path / "posted"):
        assert ROOT in path.read_text()
    kept = tmp_path / next(step.inputs["path"] for step in steps if step.inputs)
    assert "/models/" not in kept.read_text()
    assert kept.read_text().count("\n") == CRASH.read_text().count("\n")


def test_every_file_is_named():
    """The page names every file that it comes with."""
    text = (DOCS / "README.md").read_text()

    for path in DOCS.rglob("*"):
        if path.is_file() and path.name != "README.md":
            assert path.relative_to(DOCS).as_posix() in text
