"""A whole verification: printed tables, oracles, and the authors' code where a clone is named.

`python -m tests.oracles [--iris CLONE] [--genres CLONE] [--out FILE]` prints the largest difference per scorer. It ends
with 1 if one is above its bound and not listed as a departure.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fairspace.submissions.verifying import printed_tables
from tests.oracles import against_text, libraries
from tests.oracles.authors import RUNS
from tests.oracles.authors.clones import REPOSITORIES
from tests.oracles.comparison import PARTS, Comparison, Verification, of_paper
from tests.oracles.report import document, lines


def verify(clones: Mapping[str, Path], say: Callable[[str], None] = lambda line: None) -> Verification:
    """Run every part; `clones` maps a repository of authors to a clone's folder. CloneError for another commit."""
    for name, folder in clones.items():
        REPOSITORIES[name].check(folder)
    say(PARTS["printed"])
    comparisons: list[Comparison] = [*map(of_paper, printed_tables())]
    say("SciPy, fairlearn")
    of_libraries, skipped = libraries.comparisons()
    of_texts, without = against_text(say=say)
    comparisons += [*of_libraries, *of_texts]
    patches: dict[str, tuple[str, ...]] = {}
    departures: dict[str, str] = {}
    for name, repository in REPOSITORIES.items():
        if name not in clones:
            skipped[f"the authors' code of {repository.address}"] = f"name a clone of it with --{name}"
            continue
        say(repository.address)
        outcome = RUNS[name](clones[name])
        comparisons += outcome.comparisons
        patches[repository.address] = outcome.patches
        departures.update(outcome.departures)
    return Verification(tuple(comparisons), skipped, patches, without, departures)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracles", description="Hold every score against others.")
    for name, repository in REPOSITORIES.items():
        parser.add_argument(f"--{name}", type=Path, help=f"a clone of {repository.address}: also run its code")
    parser.add_argument("--out", type=Path, help="write the page to a file")
    asked = parser.parse_args(arguments)
    clones = {name: getattr(asked, name) for name in REPOSITORIES if getattr(asked, name) is not None}
    verification = verify(clones, say=lambda line: print(line, file=sys.stderr))
    if asked.out is not None:
        asked.out.write_text(document(verification), encoding="utf-8")
    print("\n".join(lines(verification)))
    return 1 if verification.unlisted else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
