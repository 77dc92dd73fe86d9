"""The page of validation shows what `fairspace standard validate` finds, with the printed figures beside."""

import pytest

from fairspace.leaderboard_space.pages.validation import matrix, moved
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.standards.validation import Correlation, Stability
from tests.leaderboard_space.api.spaces import Opened


@pytest.mark.parametrize("standard", ["inaugural", "algorithm_1"])
def test_the_page_has_the_papers_models_and_says_that_nothing_was_scored(site: Opened, standard: str) -> None:
    text = " ".join(site.client.get(f"/validation?standard={standard}").text.split())
    assert "The seven models of the paper" in text
    assert '<th scope="row"><code>Penalty_delta_GSR</code></th><td class="number">0.9286</td>' in text
    assert "0.7532" in text
    assert "2 of 15 pairs are beyond 0.7" in text
    assert "Fewer than 3 ranked models with every value were scored here" in text
    assert "every ranked model that was scored here" in text


def test_an_unknown_standard_is_refused(site: Opened) -> None:
    assert site.client.get("/validation?standard=nothing").status_code == 400


def test_a_matrix_has_both_halves_and_undefined_has_no_colour() -> None:
    cells = matrix([Correlation("a", "b", -0.75, 0.1), Correlation("a", "c", None, None)])
    assert (cells["b", "a"].r, cells["b", "a"].step) == (-0.75, 3)
    assert (cells["c", "a"].r, cells["c", "a"].step) == (None, 0)


def test_changes_are_sorted_by_what_they_move() -> None:
    found = moved([Stability("x", 0.1, 1.0, 0.0), Stability("y", 0.1, 0.9, 0.1), Stability("z", 0.1, None, None)])
    assert ([one.changed for one in found.moving], found.still, len(found.unknown), found.least) == (["y"], 1, 1, 0.9)


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_has_a_page(site: Opened, name: str) -> None:
    answer = site.client.get(f"/validation?benchmark={name}")
    text = " ".join(answer.text.split())
    assert answer.status_code == 200
    assert f"Is {benchmark(name).title} a reliable measurement?" in text
    assert "Models of the paper" in text
    assert "their rows keep no draws" in text
    assert '<span class="state">too few</span>' in text
    assert ("The checks of the paper" in text) == (name == "iris")
    assert ('<th scope="row">Llama and Mistral</th>' in text) == (name == "genres")


def test_an_unknown_benchmark_is_refused(site: Opened) -> None:
    assert site.client.get("/validation?benchmark=nothing").status_code == 400
