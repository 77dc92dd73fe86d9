"""Run the mutants of a seeded sample that have no fate yet, and say which survived. See README.md beside this file."""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.mutants.chosen import ROOT, SAMPLE, tests_of
from tests.mutants.drawing import Mutant, sample
from tests.mutants.trying import Fate, Trial, copy_project, load_libraries, try_all

KEPT = ROOT / "build" / "mutants.jsonl"
LEAST_KILLED = 0.85


def main() -> int:
    """0 if all of the sample was tried and enough of it was killed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--areas", nargs="+", choices=SAMPLE, default=list(SAMPLE), help="which areas are sampled")
    parser.add_argument("--minutes", type=float, default=30, help="after which no further mutant is begun")
    parser.add_argument("--workers", type=int, default=2, help="mutants at a time")
    parser.add_argument("--kept", type=Path, default=KEPT, help="the file of fates, by which a run goes on")
    parser.add_argument("--again", action="store_true", help="try those again that survived")
    options = parser.parse_args()
    mutants = sample(options.seed, tuple(options.areas))
    fates = _read(options.kept)
    if options.again:
        fates = {key: fate for key, fate in fates.items() if fate["fate"].startswith("killed")}
    left = [mutant for mutant in mutants if _key(mutant) not in fates]
    print(f"{len(mutants)} mutants, {len(left)} of them without a fate")
    end = time.monotonic() + 60 * options.minutes
    if left:
        load_libraries()
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            copies = [copy_project(Path(folder) / str(number)) for number in range(options.workers)]
            _check(left, copies)
            _try(left, copies, options.kept, fates, end)
    return _report(mutants, fates)


def _check(mutants: list[Mutant], copies: list[Path]) -> None:
    """Whether all tests pass without a slip; else every mutant would look killed."""
    files = dict.fromkeys(test for mutant in mutants for test in tests_of(mutant.file))
    print(f"first {len(files)} files of tests without a slip", flush=True)
    for trial, fate in try_all((Trial((test,), None) for test in files), copies, lambda: True):
        if fate.fate != "survived":
            raise SystemExit(f"These tests do not pass without a slip: {trial.tests[0]} {fate.by}")


def _try(mutants: list[Mutant], copies: list[Path], kept: Path, fates: dict[str, Any], end: float) -> None:
    trials = (Trial(tests_of(mutant.file), mutant) for mutant in mutants)
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.open("a", encoding="utf-8") as file:
        for trial, fate in try_all(trials, copies, lambda: time.monotonic() < end):
            assert trial.mutant is not None
            data = _data(trial.mutant, fate)
            if fate.fate != "broken":
                fates[data["key"]] = data
                file.write(json.dumps(data) + "\n")
                file.flush()
            print(f"{fate.seconds:6.1f} s {fate.fate}: {trial.mutant.file}:{trial.mutant.line} {fate.by}", flush=True)


def _key(mutant: Mutant) -> str:
    """A mutant is the same as long as its whole file is."""
    return hashlib.sha256(f"{mutant.file}\0{mutant.code}".encode()).hexdigest()[:20]


def _data(mutant: Mutant, fate: Fate) -> dict[str, Any]:
    about = {name: part for name, part in vars(mutant).items() if name != "code"}
    return {"key": _key(mutant), **about, **vars(fate), "seconds": round(fate.seconds, 1)}


def _read(kept: Path) -> dict[str, dict[str, Any]]:
    """Key -> the last fate that was written; a line that was cut off is none."""
    fates = {}
    for line in kept.read_text(encoding="utf-8").splitlines() if kept.exists() else ():
        try:
            data = json.loads(line)
        except ValueError:
            continue
        fates[data["key"]] = data
    return fates


def _report(mutants: list[Mutant], fates: dict[str, Any]) -> int:
    counts: dict[str, Counter[str]] = {}
    tried = [(mutant, fates[_key(mutant)]) for mutant in mutants if _key(mutant) in fates]
    for mutant, fate in tried:
        for where in (mutant.file, f"all of {mutant.area}", "all"):
            counts.setdefault(where, Counter())[fate["fate"].partition(" ")[0]] += 1
    print("\nkilled  survived")
    for where, count in sorted(counts.items(), key=lambda item: (item[0].startswith("all"), item[0])):
        print(f"{count['killed']:6d}  {count['survived']:8d}  {where}")
    for mutant, fate in tried:
        if fate["fate"] == "survived":
            print(f"\nsurvived: {mutant.file}:{mutant.line} ({mutant.operator})\n{mutant.change}")
    killed = sum(fate["fate"].startswith("killed") for _, fate in tried)
    print(
        f"\n{killed} of {len(tried)} killed, {killed / max(1, len(tried)):.1%}; {len(mutants) - len(tried)} not tried"
    )
    return 0 if len(tried) == len(mutants) and killed >= LEAST_KILLED * len(tried) else 1


if __name__ == "__main__":
    raise SystemExit(main())
