"""Every numbered item of the papers is listed, and every place that its row names has what the row says."""

import re
from collections import Counter
from collections.abc import Callable, Container
from contextlib import redirect_stdout
from functools import lru_cache
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from starlette.testclient import TestClient

import fairspace
from fairspace.builders.registry import dataset
from fairspace.leaderboard_space.app import create_app
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.commands.main import main
from fairspace.submissions.verifying import Recomputed, printed_tables
from tests.coverage import NUMBERED, ROOT, STATES, Place, document, items
from tests.coverage.papers import FOLDER, PAPERS, within_intervals
from tests.coverage.papers import page as paper_page
from tests.metrics.modules.test_modules import SCORES

ITEMS = items()
PLACES = {str(place) + place.text: place for item in ITEMS for place in item.places}


def test_every_numbered_table_and_figure_of_the_papers_has_one_row() -> None:
    for paper, kinds in NUMBERED.items():
        listed = Counter(number for item in ITEMS if item.paper == paper for number in item.numbers())
        printed = {
            (kind, f"{letter}{number}")
            for kind, ends in kinds.items()
            for letter, end in zip(("", "A"), ends, strict=True)
            for number in range(1, end + 1)
        }
        assert listed.keys() == printed
        assert set(listed.values()) == {1}


def test_every_row_has_a_state_and_what_is_not_as_printed_says_why() -> None:
    errata = (ROOT / "cards/errata.md").read_text(encoding="utf-8")
    for item in ITEMS:
        assert item.state in STATES, item
        assert item.note or item.state == "right", item
        assert item.places or item.state in ("no result", "not possible"), item
        assert all(f"## {name}\n" in errata for name in re.findall(r"E-[A-Z]+-\d+", item.note)), item


def test_the_page_is_the_list() -> None:
    assert (ROOT / "cards/coverage.md").read_text(encoding="utf-8") == document(), "python -m tests.coverage"


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_place_has_what_its_row_says(place: Place) -> None:
    assert place.text in FIND[place.kind](place.name)


@lru_cache
def parts(name: str) -> list[str]:
    paper = benchmark(name).reporting.paper
    assert paper is not None
    return [part.number for part in paper({}, Scored({}, "", None), next(iter(benchmark(name).standards))).parts]


@lru_cache
def verified() -> list[Recomputed]:
    return list(printed_tables())


@lru_cache
def printed(words: str) -> str:
    """The output of a command."""
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as output:
        patch.setattr("sys.argv", ["fairspace", *words.split()])
        with pytest.raises(SystemExit) as ended:
            main()
    assert not ended.value.code
    return output.getvalue()


@lru_cache
def prompts(benchmark_and_task: str) -> str:
    asked = fairspace.items(*benchmark_and_task.split())
    return "\n".join(asked["prompt"].drop_duplicates()) + "\n".join(asked.get("image_description_prompt", []))


@lru_cache
def page(path: str) -> str:
    with TemporaryDirectory() as folder:
        space = Space.open(Settings(store=f"{folder}/store", work=Path(folder, "work"), workers=0))
        with TestClient(create_app(space), base_url="http://127.0.0.1") as client:
            return client.get(path).raise_for_status().text


def card(name: str) -> str:
    return (ROOT / f"cards/datasets/{dataset(name).name}.md.jinja").read_text(encoding="utf-8")


FIND: dict[str, Callable[[str], Container[str]]] = {
    "evaluate": lambda module: SCORES[module].split(),
    "paper": parts,
    "verify": lambda heading: [row.table for row in verified() if row.benchmark == heading],
    "fairspace": printed,
    "items": prompts,
    "dataset": card,
    "page": page,
    "file": lambda path: (ROOT / path).read_text(encoding="utf-8"),
}


def test_the_pages_of_papers_are_as_written_and_count_the_published_responses() -> None:
    for name in PAPERS:
        assert (ROOT / FOLDER / f"{name}.md").read_text(encoding="utf-8") == paper_page(name), (
            "python -m tests.coverage"
        )
    inside = dict(within_intervals())
    assert len(inside) == 21
    assert all(inside.values())
    for each in printed_tables():
        assert sum(each.benchmark in headings for _, headings in PAPERS.values()) == 1
