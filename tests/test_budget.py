"""Lines, modules and share of import lines of each top folder may only fall; raising a number needs a reason beside it.

`python -m tests.test_budget` prints the current table.
"""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LONGEST_FILE = 600
"""Lines of a file; a longer one holds more than one topic."""
# The models that the papers are about (+2,600): detectors of Ultralytics, pipelines as their makers meant, cores
# (builders); labels without training (ares, submissions); unified models, servers, providers, TorchUMM, closed forms, a
# second reader, times and memory of a plan (submissions). Two minutes to an answer (+2,100): a gate for builds, eval,
# sentences, papers' tables, named levels, an evidence page (submissions); intervals of metrics alone (metrics), measure
# (fairspace). Hostile images and imports, a slow disk, clocks that jump (+110: builders, ares, leaderboard_space). A
# front page, pages of models, runs of a list and wanted models (leaderboard_space, submissions). The border (+1,995):
# detectors as they write, answers by a positive list, one front door for tables, equal images, TorchUMM's table, a run
# in any loop or console, files written whole, records of Every Eval Ever (submissions, ares, fairspace, metrics); the
# authors' own questions, pictures, settings and files (builders, submissions). The centre (+680): intervals by what was
# answered and groups of metrics (metrics, fairspace); gates, limits by topics, headlines, plans that count copies, one
# printer, refused options (submissions); files beside (builders). Tests: these, limits, a record of benchmarks.
# Verdicts of all printed tables, IRIS' checks over any results (+140: submissions, metrics, leaderboard_space).
# Scores of runs beside each other, and of a corpus (+150: metrics, submissions).
# Standards of IRIS: own regions (builders, metrics, submissions), SIL's unit (metrics, submissions; one module).
# Scores in events, fairness first (+146: leaderboard_space; tests). Public pages as files with a builder's process, an
# export and packed events (+560), comparing in the browser and IRIS' pictures (+290, submissions too), a row and model
# that begin with their answer (+190), names that are ours and a store that mends (+106), one list and clients (+97).
# One word for one thing, former names as well (+90: submissions, fairspace).
# Parts of a work by rank, of builds (+165: builders) and of runs, and their join (+410: submissions).
# Weights joined from packages (+141: submissions).
# Gates as JUnit, an action, a fixture; model cards; papers' methods (submissions, fairspace, cards, builders).
# The metrics' intervals are the scorer's, drawn from counts (+430: metrics; submissions -520: each value once).
# Labels in parts, on Ray Data, and training by several processes (+360: ares; +50: submissions).
# Inspect's own commands: registered tasks, answers of killed evaluations, logs scored as they are, kills by the hundred
# (+77: submissions; fairspace; tests).
# Examples of the API, llms.txt of site and board, start pages (+90: leaderboard_space, cards); each line of the pages'
# code with its test or reason, the picture (tests).
# Tasks of lm-eval, three harnesses' logs, parts of rows (+380: submissions, fairspace).
# Each command once: words of options in docstrings (-164: submissions; tests: that none lacks its words).
# uniface as FairFace writes, modalities on evidence pages, limits by errors (+50: submissions; fairspace).
# Parts in Python, whose errors name arguments (+40: fairspace), cores by Inspect and memory of closed servers (+15:
# submissions).
# Faces and scores of detectors checked whole, options' lines that are read or refused (+44: submissions, builders).
# Stability of answers and values over repeated runs (+190: fairspace, submissions).
# Made images kept by one store for builds and runs (+29: builders; -70: submissions, whose modules import it).
# Files of the Space that a submission passes, counted by a test (tests +23; leaderboard_space -140).
# Annotations are evaluated where they can be: the import that defers them stands where one names what is not there yet
# (all: -576; tests -734). A builder that cannot be started is tried again (+4: leaderboard_space; tests +34).
# What a server of images has to have is declared so (+1: submissions), results without a hash are made again (tests).
# Serving starts the builder first, pages are made beside an event's boards, stories without a seed are told (+80:
# leaderboard_space, +20: submissions; tests +61).
# The front page is kept by the boards that it shows, a builder says why it cannot open the store (+5).
# Weights say their title, identity and number format, which five places of runs worked out (+14: builders).
# A killed run's group is waited for: a program that it was starting still had its lock (tests +6).
# What a maker of images lacks is told when it is made, not when it is asked: abstract methods (+2; tests +9).
BUDGET = {
    "builders": (11_901, 69, 809),
    "metrics": (6_730, 59, 466),
    "ares": (8_019, 42, 530),
    "submissions": (46_306, 218, 3_494),
    "leaderboard_space": (11_418, 61, 985),
    "cards": (715, 7, 49),
    "fairspace": (1_522, 8, 154),
    "tests": (65_921, 513, 6_313),
}
"""Folder -> most lines, most modules, most lines of imports."""


def files(top: str) -> list[Path]:
    found = sorted((ROOT / top).rglob("*.py")) if top != "fairspace" else sorted((ROOT / top).glob("*.py"))
    return [file for file in found if not file.is_symlink()]


def size(top: str) -> tuple[int, int, int]:
    lines = imports = 0
    for file in files(top):
        text = file.read_text(encoding="utf-8")
        lines += len(text.splitlines())
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                imports += (node.end_lineno or node.lineno) - node.lineno + 1
    return lines, len(files(top)), imports


@pytest.mark.parametrize("top", BUDGET)
def test_no_folder_grows(top: str) -> None:
    assert all(now <= most for now, most in zip(size(top), BUDGET[top], strict=True)), f"{top}: {size(top)}"


@pytest.mark.parametrize("top", [top for top in BUDGET if top != "tests"])
def test_no_file_holds_two_topics(top: str) -> None:
    lengths = {str(file): len(file.read_text(encoding="utf-8").splitlines()) for file in files(top)}
    assert not [file for file, lines in lengths.items() if lines > LONGEST_FILE]


if __name__ == "__main__":
    sizes = {top: size(top) for top in BUDGET}
    for top, (lines, modules, imports) in sizes.items():
        print(f'    "{top}": ({lines:_}, {modules:_}, {imports:_}),')
    product = [sizes[top] for top in BUDGET if top != "tests"]
    print(f"product: {sum(each[0] for each in product):,} lines, {sum(each[1] for each in product):,} modules")
