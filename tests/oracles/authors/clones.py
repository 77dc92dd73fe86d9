"""Run pinned files of the authors' repositories on a temporary copy."""

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from fairspace.builders.errors import CodedError
from tests.oracles.comparison import Comparison


class CloneError(CodedError):
    codes = {  # noqa: RUF012
        "CLONE_MISSING": "a file of the authors' code is not in the folder",
        "CLONE_DIFFERS": "a file of the authors' code is not that of the pinned commit",
        "CLONE_FAILED": "the authors' program ended with an error",
    }


@dataclass(frozen=True)
class Repository:
    """The files used of a repository of authors, at a commit; `files` maps a path to its sha256."""

    option: str
    address: str
    commit: str
    files: Mapping[str, str]

    @property
    def source(self) -> str:
        return f"the authors' code at {self.commit}"

    def check(self, folder: Path) -> None:
        """CloneError CLONE_MISSING or CLONE_DIFFERS unless the folder holds these files."""
        mend = f"git clone https://github.com/{self.address} && git checkout {self.commit}"
        for path, digest in self.files.items():
            file = folder / path
            if not file.is_file():
                raise CloneError("CLONE_MISSING", str(file), "there is no such file", f"{self.address}'s {path}", mend)
            found = hashlib.sha256(file.read_bytes()).hexdigest()
            if found != digest:
                expected = f"the file of commit {self.commit}, sha256 {digest[:12]}…"
                raise CloneError("CLONE_DIFFERS", str(file), f"sha256 {found[:12]}…", expected, mend)


IRIS = Repository(
    "iris",
    "Warren118/IRIS-Benchmark",
    "0d2baca",
    {
        "metrics/__init__.py": "8a58d47f1e79192c7bef15d17677b28081ec3cd96e7715ffc17897e58a3afd70",
        "metrics/calculations.py": "a7a4a41dec78ed387d7bf77d0a36220010fb89ec5f3a48bf9d1719483f94b806",
        "metrics/dimensions.py": "d3b631dd873462a0315d3b48264eb311f390d3b96779c110a50f98325454f3ed",
        "evaluate.py": "f39eef5b1f75f043c7bae69642ab74a794f69f02068fcd49d1c822b032e5391d",
        "diagnostics/run_mbti_profiling.py": "42505f343df174ddf35ed0b2dac170a4d57f7921931483f25768c5d03ab42e33",
        "data/real_world_stats_us.csv": "7d137cea48888519acae5bd35839c437807603e99312de4d84fec8c1b482463c",
        "data/real_world_stats_eu.csv": "b8508f008e8f6e9f55e08e9177d5356e120f5ea02ff5f806324aad4a5e1d12e5",
    },
)
GENRES = Repository(
    "genres",
    "Savannah2000/Genres",
    "38497a9",
    {
        "eval/eval.py": "7a3c21910b4c5f6f3a605fda6897b3a6dea490f51f20cb2909d6ed6537be673c",
        "metrics/M1.py": "469219327079b963c620e26a3f3d01a6fc4e37dc37ee3e34ac323ffd4beb613f",
        "metrics/M2.py": "2a1407f399aec32e2703730f005a7ebc88552afdd1f7de71642d2d54e6b574fc",
        "metrics/M3.py": "e74e4f4c02b2c81bde300d1d47a346edbc54440fe56cb90f9d716fa06e1d7763",
        "metrics/M4.py": "e3efe3cc69e1d63da3da5e39f70dbca772f685e85684418e6dac8537067fae63",
        "metrics/M5.py": "421f325c536aa5563d7072dc9566b61639e1318091460888151dce1ba65f3831",
        "metrics/M6.py": "e791774b69b390f37cfea2ec59a33d5b94738e94d2e78a5e2fac351225a491a4",
        "metrics/M7.py": "fee799a4a9a6afbc1faefa6fc4953a30c8d345c21885d896200fb791220c4984",
        "metrics/M8.py": "bf5894156fcb67e6df67dc4b6bc142e2c27ce056acc0aa6602fb7e9c5a695e6d",
    },
)
REPOSITORIES = {repository.option: repository for repository in (IRIS, GENRES)}
LIMIT = 900


class Outcome(NamedTuple):
    """Result of a clone: comparisons, patches that make it run, and the meaning of each listed departure."""

    comparisons: list[Comparison]
    patches: tuple[str, ...]
    departures: Mapping[str, str]


def copy(repository: Repository, clone: Path, to: Path) -> None:
    repository.check(clone)
    for path in repository.files:
        (to / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(clone / path, to / path)


def run(script: str, folder: Path, repository: Repository) -> Any:
    """Run a child script on a folder with the copy and the data; return its `out.json`."""
    program = Path(__file__).with_name(script)
    command = [sys.executable, "-I", "-W", "ignore", str(program), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, cwd=folder)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        expected, mend = "an end without an error", "compare the versions of its packages with the repository's own"
        raise CloneError("CLONE_FAILED", repository.address, last[:300], expected, mend)
    return json.loads((folder / "out.json").read_text(encoding="utf-8"))
