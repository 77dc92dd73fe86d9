"""The configuration of the Space: by environment variables, every one with a safe default."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from fairspace.submissions.errors import UsageError
from fairspace.submissions.uncertainty.uncertainty import SETTING, check_resamples


@dataclass(frozen=True)
class Settings:
    """Settings of a Space. Each is a variable `FAIRSPACE_<NAME>`, with its meaning in OPERATION.md.

    `insecure_local` is an option of the command: anybody may submit, as the user `local`; only for a port that nobody
    else can reach.
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
        check_resamples(self.resamples, SETTING)
        if self.address and not _ADDRESS.fullmatch(self.address):
            raise UsageError(f"FAIRSPACE_ADDRESS is {self.address!r}; it must be as https://board.example is.")

    def site(self) -> str:
        """The address of the Space, without a slash at its end; '' if unknown."""
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
    *("resamples", "workers", "requests_a_minute", "board_seconds", "valid_a_day", "faulty_a_day", "waiting"),
    *("baselines", "store_is_kept", "keep_refused_days", "keep_refused_bytes"),
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
