"""How a submission was made: models, engines, prompts, data, machine and time, one stage after another.

`manifest.json` lies beside `submission.json`. It is not part of the content that is scored (a run that was interrupted
gives the same submission at other times), so it does not enter the digest; it is checked like all else that is read.
"""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from submissions.format import Line

FILE = "manifest.json"
Scalar = str | int | float | bool | None


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Git(_Model):
    """The checkout that ran: its commit, and whether files differed from it."""

    commit: Line
    changed: bool


class Stage(_Model):
    """One thing that was done to make the submission."""

    what: Literal["responses", "images", "annotations", "quality", "judgements"]
    model: Line = Field(description="as its engine names it")
    revision: Line = Field(description="commit, version or date; 'not stated' if nobody said")
    engine: Line = Field(description="for example inspect_ai, diffusers, callable, ares")
    engine_version: Line
    settings: dict[str, Scalar] = Field(default_factory=dict, description="of generation, as they were asked for")
    prompts: str = Field(default="", pattern=r"^([0-9a-f]{64})?$", description="sha256 over all prompts with their ids")
    datasets: dict[str, str] = Field(default_factory=dict, description="dataset -> revision, or hash of its manifest")
    tasks: list[Line] = Field(default_factory=list)
    requests: int = Field(default=0, ge=0)
    fates: dict[str, int] = Field(default_factory=dict, description="fate -> requests")
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    limit: int | None = Field(default=None, description="stimuli of a task at most; null for the whole benchmark")
    stratified: bool = False
    hardware: dict[str, Scalar] = Field(default_factory=dict)
    software: dict[str, str] = Field(default_factory=dict, description="package -> version")
    git: Git | None = None
    started: str
    ended: str


class Manifest(_Model):
    """`manifest.json`."""

    format: Literal[1] = 1
    stages: list[Stage]


def now() -> str:
    """The time in UTC to the second, as ISO 8601."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@lru_cache
def hardware() -> dict[str, Scalar]:
    """The machine: system, processor, cores, memory, accelerators; nothing that names its owner or its place."""
    found: dict[str, Scalar] = {
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        found["memory_gib"] = round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    if version("torch"):
        import torch

        gpus = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
        found["accelerators"] = ", ".join(gpus) or "none"
    return found


def software(*packages: str) -> dict[str, str]:
    """Versions of Python, fairspace and the named packages, those that are installed."""
    found = {"python": platform.python_version(), "fairspace": version("fairspace")}
    return {name: text for name, text in (found | {name: version(name) for name in packages}).items() if text}


def version(package: str) -> str:
    """The version of an installed package; '' if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


@lru_cache
def git() -> Git | None:
    """The checkout that this software runs from; None if it is none, or git is not there."""
    root = Path(__file__).parent.parent
    if not (root / ".git").exists():
        return None
    try:
        commit = _git(root, "rev-parse", "HEAD")
        changed = bool(_git(root, "status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.CalledProcessError):
        return None
    return Git(commit=commit, changed=changed)


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a submission of our own; without stages if it has none. ValidationError: it is none of ours."""
    file = folder / FILE
    return Manifest.model_validate_json(file.read_bytes()) if file.is_file() else Manifest(stages=[])


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write `manifest.json` into a submission's folder."""
    (folder / FILE).write_text(manifest.model_dump_json(indent=1, exclude_defaults=False) + "\n", encoding="utf-8")
