"""A dataset revision that a benchmark does not have is refused wherever its items are asked for."""

from typing import Any

import pytest

from fairspace.builders.errors import BuildError
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.running.asking.inspect_task import Chosen
from fairspace.submissions.running.asking.parts import parts


@pytest.mark.parametrize("name", NAMES)
def test_ids_and_items_of_an_unknown_revision_are_refused(name: str) -> None:
    bench = benchmark(name)
    for task in bench.tasks:
        for revision in bench.revisions:
            assert len(task.ids(revision)) or revision != bench.revisions[0]
        for find in (task.ids, *([] if task.items is None else [task.items])):
            with pytest.raises(BuildError, match=r"REVISION_UNKNOWN at dataset .*'v99'"):
                find("v99")
    with pytest.raises(BuildError, match="REVISION_UNKNOWN"):
        bench.items("v99")


@pytest.mark.parametrize(
    ("name", "options"), [("fact_or_fair", {}), ("genres", {"text_only": True}), ("iris", {"tasks": ["tournament"]})]
)
def test_an_unknown_revision_is_not_asked(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(BuildError, match="REVISION_UNKNOWN"):
        parts(name, None, revision="v99", **options)


def test_the_authors_own_genres_pairs_are_scored_and_not_asked() -> None:
    assert len(benchmark("genres").task("narrative").ids("upstream")) == 1440
    assert benchmark("genres").items("upstream") == {}  # so that their answers are read and scored without the prompts
    with pytest.raises(BuildError, match="'upstream'"):
        parts("genres", None, revision="upstream", text_only=True)


@pytest.mark.parametrize("name", NAMES)
def test_the_newest_revision_is_asked(name: str) -> None:
    assert Chosen(name).revision == benchmark(name).revisions[0]
