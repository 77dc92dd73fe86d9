"""The manifest of a submission (`manifest.json`): models, engines, prompts, data, machine and time of each stage.

The manifest does not enter the digest, for an interrupted run gives the same content at other times. Facts that decide
the answers stay in the result (`Manifest.run`); machine, times and tokens do not.
Also types for text in a submission: lines without control characters, and closed vocabularies.
"""

import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

MARKS = (
    r"\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb"
)
"""Characters that break a line, reorder the text around them or are invisible, so that two names look the same."""
Line = Annotated[
    str, StringConstraints(min_length=1, max_length=200, pattern=rf"^[^\s{MARKS}]([^{MARKS}]*[^\s{MARKS}])?$")
]
"""One line of text that begins and ends with a visible character."""


Architecture = Literal["autoregressive", "diffusion", "autoregressive + diffusion", "masked", "adversarial", "other"]
"""Architectures; a flow counts as diffusion, and experts or an encoder before the decoder change nothing."""
ARCHITECTURES: tuple[Architecture, ...] = get_args(Architecture)


FILE = "manifest.json"
STAGES = 100
ENTRIES = 100
"""Most entries of a list or an object in a stage."""
Text = Annotated[str, StringConstraints(max_length=1000, pattern=rf"^[^{MARKS}]*$")]
"""One line of at most 1,000 printable characters; may be empty."""
Time = Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")]
Count = Annotated[int, Field(ge=0, lt=2**63)]
Scalar = Text | int | float | bool | None


class Strict(BaseModel):
    """A record of a submission: no further fields, no conversions."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Git(Strict):
    """The checkout that ran: its commit, and whether files differed from it."""

    commit: Line
    changed: bool


class Stage(Strict):
    """One step in making the submission."""

    what: Literal["responses", "images", "annotations", "quality", "judgements"]
    model: Line = Field(description="as its engine names it")
    revision: Line = Field(description="commit, version or date; 'not stated' if nobody said")
    engine: Line = Field(description="for example inspect_ai, diffusers, callable, ares")
    engine_version: Line
    settings: dict[Line, Scalar] = Field(
        default_factory=dict, max_length=ENTRIES, description="of generation, as they were asked for"
    )
    prompts: str = Field(default="", pattern=r"^([0-9a-f]{64})?$", description="sum of the sha256 of all prompts")
    datasets: dict[Line, Text] = Field(
        default_factory=dict, max_length=ENTRIES, description="dataset -> revision, or hash of its manifest"
    )
    tasks: list[Line] = Field(default_factory=list, max_length=ENTRIES)
    requests: Count = 0
    fates: dict[Line, Count] = Field(default_factory=dict, max_length=ENTRIES, description="fate -> requests")
    input_tokens: Count = 0
    output_tokens: Count = 0
    course: dict[Line, Scalar] = Field(
        default_factory=dict, max_length=ENTRIES, description="how it went beside its plan: tokens, seconds, shares"
    )
    limit: int | None = Field(
        default=None, ge=1, lt=2**63, description="stimuli of a task at most; null for the whole benchmark"
    )
    stratified: bool = False
    hardware: dict[Line, Scalar] = Field(default_factory=dict, max_length=ENTRIES)
    software: dict[Line, Text] = Field(default_factory=dict, max_length=ENTRIES, description="package -> version")
    git: Git | None = None
    started: Time
    ended: Time

    def run(self) -> dict[str, Any]:
        """Fields for the result: those that decide the answers, and when the last one came, without the machine."""
        return self.model_dump(include=set(RUN))


RUN = (
    "what",
    "model",
    "revision",
    "engine",
    "engine_version",
    "settings",
    "prompts",
    "datasets",
    "tasks",
    "limit",
    "stratified",
    "ended",
)
"""Fields of a stage in a result."""


class Manifest(Strict):
    """`manifest.json`."""

    format: Literal[1] = 1
    stages: list[Stage] = Field(max_length=STAGES)

    def run(self) -> tuple[dict[str, Any], ...]:
        """Fields of all stages for the result."""
        return tuple(stage.run() for stage in self.stages)

    def dumps(self) -> str:
        """The manifest as JSON text."""
        return self.model_dump_json(indent=1) + "\n"


PART = "A part of the benchmark, not ranked"
"""Beginning of the sentence on every partial run; its marks follow."""


def limit_mark(limit: int, stratified: bool) -> str:
    """The mark of a run of a part of the benchmark."""
    stimuli = "1 stimulus" if limit == 1 else f"{limit:,} stimuli"
    return f"limited to {stimuli} a task{' (stratified)' if stratified else ''}"


PART_MARK = "part"
"""Setting of generation that marks one of N parts of a run, as I/N; `fairspace join` takes it away."""
SAMPLE_MARK = "on a sample of the data"
"""The mark of a run on the small sample that `fairspace build --sample` makes."""


def on_sample(about: Mapping[str, Any]) -> bool:
    """Whether settings of generation, or a stage of a result, say that data were the small sample of a dataset.

    These have `sample_data`, or a dataset with a revision such as `v1, sample, sha256:...`.
    """
    settings, datasets = about.get("settings"), about.get("datasets")
    sources = [about, settings if isinstance(settings, Mapping) else {}]
    revisions = map(str, datasets.values()) if isinstance(datasets, Mapping) else ()
    return any(setting.get("sample_data") is True for setting in sources) or any(
        "sample" in r.split(", ") for r in revisions
    )


def now() -> str:
    """The time in UTC to the second, as ISO 8601."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@lru_cache
def hardware() -> dict[str, Scalar]:
    """The machine: system, processor, cores, memory, and accelerators where torch was used; not its owner."""
    settings: dict[str, Scalar] = {
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        settings["memory_gib"] = round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    torch = sys.modules.get("torch")
    if torch is not None:
        gpus = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
        settings["accelerators"] = ", ".join(gpus) or "none"
    return settings


def software(*packages: str) -> dict[str, str]:
    """Versions of Python, fairspace and the named packages, if installed."""
    versions = {"python": platform.python_version(), "fairspace": version("fairspace")}
    return {name: text for name, text in (versions | {name: version(name) for name in packages}).items() if text}


def circumstances(started: str, *packages: str, ended: str = "", **more: Scalar) -> dict[str, Any]:
    """Fields of a stage that ends now, or at `ended`: machine, software and times; `more` of the machine."""
    here = {"hardware": {**hardware(), **more}, "software": software(*packages), "git": git()}
    return {**here, "started": started, "ended": ended or now()}


def version(package: str) -> str:
    """The version of an installed package; '' if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


@lru_cache
def git() -> Git | None:
    """The checkout of this software; None without one or without git."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return None
    try:
        commit = _git(root, "rev-parse", "HEAD")
        changed = bool(_git(root, "status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.CalledProcessError):
        return None
    return Git(commit=commit, changed=changed)


def _git(root: Path, *words: str) -> str:
    git = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True)
    return git.stdout.strip()


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a submission folder; without stages if there is none. ValidationError for another format."""
    file = folder / FILE
    return Manifest.model_validate_json(file.read_bytes()) if file.is_file() else Manifest(stages=[])


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write `manifest.json` into a submission's folder."""
    (folder / FILE).write_text(manifest.dumps(), encoding="utf-8")
