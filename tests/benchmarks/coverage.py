"""Coverage of 95 % intervals for every benchmark: the table of `submissions/uncertainty/README.md`.

    python -m tests.benchmarks.coverage [submissions] [beginning of a model's name ...]

Submissions are drawn at the protocol's size from models of known true values, and kept in `build/coverage.jsonl`, from
which an interrupted run goes on; delete it after a change of the intervals. The standard error is sqrt(.95 * .05 / n).
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np

from tests.benchmarks import iris_coverage, text_coverage
from tests.benchmarks.iris_truths import models

KEPT = Path("build/coverage.jsonl")
SUBMISSIONS = 60
FAMILIES = {
    "RD": ("RD_",),
    "JSD of images": ("JSD_US_", "JSD_EU_"),
    "penalties": ("Penalty_",),
    "AD": ("AD_",),
    "SPD": ("SPD_",),
    "SDS": ("AbsSDS_",),
    "JSD of the tournament": ("JSD_gender_", "JSD_age_", "JSD_skin_"),
    "AC, DHR": ("ac_diff_", "dhr_"),
    "IFS": ("IFS_",),
    "RFS": ("RFS_",),
    "BIS": ("BIS_",),
    "`iris_score`": ("iris_score",),
    "S_fact": ("factuality_",),
    "S_E": ("entropy_",),
    "S_KLD": ("kld_",),
    "S_fair": ("fairness_",),
    "S": ("gender_", "race_"),
    "M1 to M8": ("M",),
    "TBS": ("TBS",),
}
Held = tuple[str, bool, float]


def measured(submissions: int, chosen: tuple[str, ...]) -> dict[str, list[list[Held]]]:
    """Model -> results of its submissions; missing ones are drawn and kept."""
    kept: dict[tuple[str, int], list[Held]] = {}
    if KEPT.exists():
        for line in KEPT.read_text().splitlines():
            name, number, values = json.loads(line)
            kept[name, number] = values
    KEPT.parent.mkdir(exist_ok=True)
    simulations = {f"IRIS, {name}": partial(iris_coverage.submission, model) for name, model in models().items()}
    simulations |= {name: partial(text_coverage.submission, name) for name in text_coverage.MODELS}
    by_model = {name: each for name, each in simulations.items() if name.startswith(chosen)}
    with KEPT.open("a") as file:
        for number in range(submissions):
            for name, submission in by_model.items():
                if (name, number) not in kept:
                    kept[name, number] = list(submission(number))
                    file.write(json.dumps([name, number, kept[name, number]]) + "\n")
                    file.flush()
    return {name: [kept[name, number] for number in range(submissions)] for name in by_model}


def table(by_model: Mapping[str, list[list[Held]]]) -> Iterator[str]:
    """A line per family, a cell per model: percent of intervals that hold the truth, and their width."""
    yield f"| values | {' | '.join(by_model)} |"
    yield "|---" * (1 + len(by_model)) + "|"
    for family, names in FAMILIES.items():
        cells = [cell(submissions, names) for submissions in by_model.values()]
        if any(cells):
            yield f"| {family} | {' | '.join(cells)} |"


def cell(submissions: list[list[Held]], names: tuple[str, ...]) -> str:
    """Mean and least share over the values with such a prefix, and their mean width; '' if none."""
    shares: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for name, inside, width in (held for submission in submissions for held in submission):
        if name.startswith(names):
            shares[name].append((100.0 * inside, width))
    if not shares:
        return ""
    held, width = np.array([np.mean(each, axis=0) for each in shares.values()]).T
    return f"{held.mean():.0f}, {held.min():.0f} ({width.mean():.3g})"


def main() -> None:
    submissions = int(sys.argv[1]) if len(sys.argv) > 1 else SUBMISSIONS
    by_model = measured(submissions, tuple(sys.argv[2:]) or ("",))
    for _, alike in groupby(by_model.items(), lambda item: item[0].split()[0]):
        print("\n".join([*table(dict(alike)), ""]))


if __name__ == "__main__":
    main()
