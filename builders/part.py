"""Parts of a work: part I of N takes each N-th place from place I on; named, or as a launcher of processes says.

Places are those in the whole benchmark, build or folder, so that a larger `--limit` moves nothing to another part. A
part is written I/N, with I from 0 to N - 1; '' is the whole.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairspace.builders.errors import BuildError

RANKS = (("RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"))
"""Variables in which torchrun and `accelerate launch`, and a step of Slurm (`srun`), tell a process its rank."""
LOCAL_RANKS = ("LOCAL_RANK", "SLURM_LOCALID")
"""Variables with the rank among the processes of one machine, in the same order."""


def read_part(text: str = "", variables: Mapping[str, str] = os.environ) -> str:
    """The part that is named, or for '' the one of a launcher's rank; '' for the whole, which 0/1 names too.

    BuildError PART_INVALID.
    """
    ranks = [f"{variables[rank]}/{variables[size]}" for rank, size in RANKS if {rank, size} <= variables.keys()]
    part = text or next(iter(ranks), "0/1")
    if not re.fullmatch(r"\d{1,6}/\d{1,6}", part) or not int(part.partition("/")[0]) < int(part.partition("/")[2]):
        where = "--part" if text else "the launcher's rank"
        mend = "name it so, or 0/1 for the whole"
        raise BuildError("PART_INVALID", where, part, "I/N with I from 0 to N - 1, such as 0/8", mend)
    return "" if part.partition("/")[2] == "1" else part


def numbers(part: str) -> tuple[int, int]:
    """The number of a part, and how many parts there are; (0, 1) for ''."""
    number, _, of = (part or "0/1").partition("/")
    return int(number), int(of)


def in_part(places: Sequence[int], part: str) -> list[int]:
    """The places of a part, in their order."""
    number, of = numbers(part)
    return [place for place in places if place % of == number]


def part_folder(out: Path, part: str) -> Path:
    """The folder of a part beside `out`; `out` itself for the whole."""
    number, of = numbers(part)
    return out.with_name(f"{out.name}.part-{number:05}-of-{of:05}") if part else out


def local_rank(variables: Mapping[str, str] = os.environ) -> int:
    """The rank of this process among those of its machine; 0 without a launcher."""
    return next((int(variables[name]) for name in LOCAL_RANKS if variables.get(name, "").isdigit()), 0)
