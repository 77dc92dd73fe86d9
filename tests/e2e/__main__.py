"""`python -m tests.e2e`: a real model from a fresh installation of the wheel to rows of a board, within 15 minutes.

SmolLM2 answers slices of FACT-OR-FAIR's core, of stereotypical bias' language modality and of GENRES, and judges its
narratives; one run is repeated and killed five times. Each step prints its seconds, CPU seconds, tokens and readable
share. `--keep FOLDER` keeps submissions, results, reports and a picture of each report's first page.
"""

import argparse
import os
import random
import secrets
import sys
import tempfile
from pathlib import Path

SECONDS = 900.0
"""Limit on two idle cores."""


def main() -> None:
    """Walk; exit code 1 if a step fails or the time is over."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e", description=__doc__)
    parser.add_argument("--keep", type=Path, help="a folder for what is written")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="that the walk may take")
    parser.add_argument("--moments", type=int, default=secrets.randbits(32), help="seed of the moments of the kills")
    chosen = parser.parse_args()
    sys.stdout.write(f"seed of the moments of the kills: {chosen.moments}\n")
    os.environ["FAIRSPACE_REQUIRE_SMOLLM2"] = os.environ["FAIRSPACE_REQUIRE_BROWSER"] = "1"
    if chosen.keep is not None:
        chosen.keep.mkdir(parents=True)
        walk(chosen.keep.resolve(), chosen.seconds, chosen.moments)
    else:
        with tempfile.TemporaryDirectory() as folder:
            walk(Path(folder), chosen.seconds, chosen.moments)


def walk(folder: Path, seconds: float, moments: int) -> None:
    """All steps, in an empty folder; `moments` is the seed of the moments of the kills."""
    from tests.built_wheel import build_wheel
    from tests.e2e.environment import fresh
    from tests.e2e.walk import Budget, Journey, Slice, heading, show_on_board

    bounded = ("-M", "stop_loops=true", "--stratified")
    slices = (
        Slice("fact_or_fair", ("--dataset-revision", "v2-core", "--limit", "6", "-M", "max_tokens=64", *bounded), 48),
        Slice(
            "stereotypical_bias", ("--text-only", "--limit", "6", "-M", "max_tokens=32", "--seed", "1", *bounded), 12
        ),
        Slice(
            "genres",
            ("--text-only", "--limit", "4", "-M", "max_tokens=768", "--seed", "1", *bounded),
            4,
            judge=("-M", "max_tokens=128", "-M", "stop_loops=true"),
        ),
    )
    sys.stdout.write(f"{heading()}\n")
    budget = Budget()
    with budget.step("wheel"):
        wheel = build_wheel(folder / "wheel")
    with budget.step("fresh environment, weights"):
        environment = fresh(wheel, folder / "environment")
    journey = Journey(environment, folder, budget)
    names = [journey.ask(part) for part in slices]
    journey.kill(slices[0], random.Random(moments))
    show_on_board(journey, names)
    total = budget.total()
    sys.stdout.write(f"{total.name:34}{total.seconds:9.1f}{total.cpu:8.1f}{total.tokens:>8}\n")
    if total.seconds > seconds:
        sys.exit(f"The walk took longer than {seconds:.0f} s.")


if __name__ == "__main__":
    main()
