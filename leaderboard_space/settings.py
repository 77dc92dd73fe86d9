"""The configuration of the Space: by environment variables, every one with a safe default."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from fairspace.submissions.errors import UsageError
from fairspace.submissions.uncertainty.resampling import SETTING, check_resamples


@dataclass(frozen=True)
class Settings:
    """Settings of a Space. Each has a variable `FAIRSPACE_<NAME>`, except `insecure_local`, an option of the command.

    Args:
        store: a folder, or `hf://datasets/<owner>/<name>` for a dataset repository on the Hub.
        store_is_kept: whether the folder outlives the container although it lies below no mounted one; 0 or 1.
        work: a folder for records of tries and for copies; what lies there can be made again from the store.
        workers: jobs at a time; 0 scores nothing, and what is handed in waits.
        admins: names of the maintainers, who may withdraw rows.
        secret: signs tokens and forms; '' draws one at the start, so that tokens end with the process.
        address: of the Space, such as https://board.example, for code on other sites; the Hub's in a Space.
        proxies: networks of the proxies that name who asks; none for all in a Space, and for none elsewhere.
        insecure_local: anybody may submit, as the user `local`; only where nobody else can reach the port.
        upload_bytes: of one file.
        upload_seconds: in which one file must have come.
        requests_a_minute: of one client; ten times as many of files; 0 for any number, at a time as well.
        board_seconds: between two snapshots of a board; 0: every request sees what has changed, and waits for it.
        valid_a_day: submissions of one user that are scored, in any 24 hours.
        faulty_a_day: submissions of one user that have faults, in any 24 hours.
        failed_a_day: attempts at submissions of one user that fail, in any 24 hours; they count for no other quota.
        attempts: at one submission; what failed can be handed in again.
        waiting: submissions of one user that wait at a time.
        queue_length: submissions that wait in all.
        check_cpu_seconds: of the processor that the look at a file may take before the file is queued.
        scoring_memory: bytes that one job may take.
        scoring_cpu_seconds: of the processor that one job may take.
        scoring_seconds: that one job may last.
        scoring_file_bytes: of a file that a job writes, and of what it prints.
        resamples: of a submission's samples, for the intervals; 0 for none, else at least 100.
        tries: how often a job is tried that ends its process.
        baselines: whether the bundled baselines are scored while nobody waits; 0 or 1.
        commits_an_hour: of the Hub repository; the Hub itself takes 128.
        keep_refused_days: for which the files of refused and failed submissions are kept; their events stay for ever.
        keep_refused_bytes: of these files in all; the oldest go first.
        stop_seconds: that running requests and jobs have when the process is asked to end; less than its host gives it.
    """

    store: str = "store"
    store_is_kept: bool = False
    work: Path = Path("work")
    workers: int = 1
    admins: tuple[str, ...] = ()
    secret: str = ""
    address: str = ""
    proxies: tuple[str, ...] = ()
    insecure_local: bool = False
    upload_bytes: int = 200 << 20
    upload_seconds: int = 600
    requests_a_minute: int = 600
    board_seconds: int = 5
    valid_a_day: int = 10
    faulty_a_day: int = 20
    failed_a_day: int = 5
    attempts: int = 3
    waiting: int = 3
    queue_length: int = 200
    check_cpu_seconds: int = 10
    scoring_memory: int = 8 << 30
    scoring_cpu_seconds: int = 1800
    scoring_seconds: int = 3600
    scoring_file_bytes: int = 256 << 20
    resamples: int = 1000
    tries: int = 3
    baselines: bool = True
    commits_an_hour: int = 100
    keep_refused_days: int = 30
    keep_refused_bytes: int = 5 << 30
    stop_seconds: int = 8

    def __post_init__(self) -> None:
        """Refuse too few resamples for an interval, and an address that is none."""
        check_resamples(self.resamples, SETTING)
        if self.address and not _ADDRESS.fullmatch(self.address):
            raise UsageError(f"FAIRSPACE_ADDRESS is {self.address!r}; it must be as https://board.example is.")

    def site(self) -> str:
        """The address of the Space, without a slash at its end; '' where nobody told it."""
        host = os.environ.get("SPACE_HOST", "").split(",")[0]
        return self.address.rstrip("/") or (f"https://{host}" if os.environ.get("SPACE_ID") and host else "")

    def keeps_the_store(self) -> bool:
        """Whether the store survives a restart: in a Space only a store on the Hub or on a mounted volume does."""
        if not os.environ.get("SPACE_ID") or self.store_is_kept or self.store.startswith("hf://"):
            return True
        place = Path(self.store).resolve()
        return any(path.is_mount() for path in (place, *place.parents[:-1]))

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read the settings from environment variables. UsageError for an invalid one."""
        variables = os.environ if environment is None else environment
        values: dict[str, Any] = {}
        for about in fields(cls):
            variable = f"FAIRSPACE_{about.name.upper()}"
            if variable in variables and about.name != "insecure_local":
                least = 0 if about.name in _MAY_BE_0 else 1
                values[about.name] = _read(variable, variables[variable], about.default, least)
        return cls(**values)


_ADDRESS = re.compile(r"https?://[A-Za-z0-9.:\[\]-]{1,200}/?")
_MAY_BE_0 = (
    "resamples",
    "workers",
    "requests_a_minute",
    "board_seconds",
    "valid_a_day",
    "faulty_a_day",
    "waiting",
    "baselines",
    "store_is_kept",
    "keep_refused_days",
    "keep_refused_bytes",
)


def _read(variable: str, text: str, default: Any, least: int) -> Any:
    if isinstance(default, tuple):
        return tuple(filter(None, (part.strip() for part in text.split(","))))
    if isinstance(default, int):
        if not (text.isascii() and text.isdigit()):
            raise UsageError(f"{variable} is {text!r}; it must be a whole number, such as {default:d}.")
        if int(text) < least:
            raise UsageError(f"{variable} is {text}; it must be at least {least}.")
        return type(default)(int(text))
    return type(default)(text)
