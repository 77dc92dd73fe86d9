"""Hidden item sets: the same grammar, another draw, unknown without the seed, and checkable once it is published."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageColor

from fairspace.builders import hidden
from fairspace.builders.errors import BuildError
from fairspace.builders.fact_or_fair import plan as fact_or_fair
from fairspace.builders.genres import plan as genres
from fairspace.builders.genres.lint import GENDERED, STEREOTYPED, words
from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_ideal_52.plan import tournament_competitors
from fairspace.builders.stereotypical_bias import plan as stereotypical_bias
from fairspace.builders.stereotypical_bias.hidden import partners
from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.standard import scores_revision
from fairspace.submissions.benchmarks.stereotypical_bias.ask import vision
from fairspace.submissions.checking.submission import check_submission

FOF = IRIS = BIAS = "v2-hidden-2099a"
GENRES = "v1-hidden-2099a"


@pytest.fixture
def seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "hidden.json"
    seeds = {f"fact_or_fair/{FOF}": "ab" * 32, f"genres/{GENRES}": "cd" * 32, f"iris/{IRIS}": "ef" * 32}
    file.write_text(json.dumps({**seeds, f"stereotypical_bias/{BIAS}": "01" * 32}))
    monkeypatch.setenv(hidden.SETTING, str(file))
    return file


def test_a_set_is_unknown_without_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(hidden.SETTING, raising=False)
    assert not benchmark("fact_or_fair").has_revision("v2-hidden-2098a")
    with pytest.raises(BuildError, match="REVISION_UNKNOWN"):
        genres.ids("v1-hidden-2098a")


@pytest.mark.usefixtures("seeds")
def test_the_queries_of_a_set_are_of_the_grammar_and_none_is_public() -> None:
    drawn, core = fact_or_fair.items("llm_subjective", FOF), fact_or_fair.items("llm_subjective", "v2-core")
    assert drawn["id"].equals(core["id"])
    assert not set(drawn["prompt"].to_pylist()) & set(fact_or_fair.items("llm_subjective", "v2")["prompt"].to_pylist())
    assert {len(prompt.split("\n")) for prompt in drawn["prompt"].to_pylist()} == {8}
    assert set(benchmark("fact_or_fair").items(FOF)) == {"llm_subjective"}


@pytest.mark.usefixtures("seeds")
def test_the_scenarios_of_a_set_are_new_without_gender_and_all_different() -> None:
    drawn, public = genres.load_elements(GENRES), genres.load_elements()
    texts = [element.text for element in drawn]
    assert len(set(texts)) == len(texts)
    assert not set(texts) & {element.text for element in public}
    assert not any(set(words(text)) & (GENDERED | STEREOTYPED) for text in texts)
    assert not any("{" in text for text in texts)
    assert [(e.id, e.plot, e.description) for e in drawn] == [(e.id, e.plot, e.description) for e in public]
    pairs = genres.pair_list(GENRES)
    assert sum(pair.female_first for pair in pairs) == len(pairs) // 2
    assert [pair.names for pair in pairs] != [pair.names for pair in genres.pair_list()]


@pytest.mark.usefixtures("seeds")
def test_answers_to_a_set_are_read_by_its_names_and_have_a_protocol_of_their_own(tmp_path: Path) -> None:
    report = check_submission(write_baseline("stereotyped", "genres", tmp_path / "b", revision=GENRES))
    assert report.submission is not None
    readings = benchmark("genres").row_readings(report.submission)["narrative"]
    assert {reading.outcome for reading in readings.distinct} == {"choice"}
    assert all(all(reading.value["profiles"]) for reading in readings.distinct)
    standard = benchmark("genres").standards[benchmark("genres").default]
    assert scores_revision(standard, benchmark("genres").base_revision(GENRES))
    assert benchmark("genres").protocol_text(GENRES).endswith("of a hidden draw.")


@pytest.mark.usefixtures("seeds")
def test_the_tournament_of_a_set_has_rounds_of_its_own_and_is_measured_by_them(tmp_path: Path) -> None:
    bench = benchmark("iris")
    drawn, public = (tournament_competitors(revision) for revision in (IRIS, "v2"))
    assert drawn.shape == public.shape
    assert (np.diff(np.sort(drawn, axis=1)) > 0).all(), "five different occupations"
    assert float((np.sort(drawn, axis=1) == np.sort(public, axis=1)).all(axis=1).mean()) < 0.001
    assert set(bench.items(IRIS)) == {"tournament"}
    names = [OCCUPATIONS[code].replace("_", " ") for code in drawn[7]]
    assert bench.items(IRIS)["tournament"]["prompt"][7].as_py().endswith(", ".join(names))
    report = check_submission(write_baseline("constant", "iris", tmp_path / "b", revision=IRIS))
    assert report.submission is not None
    records = bench.read(report.submission)
    assert records.winners.tolist() == drawn[:, 0].tolist(), "the first of each round of the set wins"
    assert bench.protocol_text(IRIS).endswith("in rounds of its draw.")
    values = bench.measure(records)
    assert (values["JSD_gender_US"].state, values["RD_gender"].state) == ("value", "not_run")


@pytest.mark.usefixtures("seeds")
def test_sides_and_orders_of_a_set_are_its_own_under_the_same_ids() -> None:
    for task in stereotypical_bias.TASKS:
        drawn, public = (stereotypical_bias.items(task, revision) for revision in (BIAS, "v2"))
        assert drawn["id"].equals(public["id"])
        column = "left" if task.startswith("vision") else "order"
        assert 0.01 < np.mean(drawn[column].to_numpy() == public[column].to_numpy()) < 0.6
    pairs = stereotypical_bias.pairs("race", BIAS)
    assert pairs.select(["age", "shared"]).equals(stereotypical_bias.pairs("race", "v2").select(["age", "shared"]))
    bench = benchmark("stereotypical_bias")
    assert bench.protocol_text(BIAS).endswith("of a hidden draw.")
    assert bench.protocol_of({"dataset_revision": BIAS}, Scored({}, "", None)) == BIAS


@pytest.mark.usefixtures("seeds")
def test_each_face_of_a_cell_stands_in_one_other_pair() -> None:
    there = [0, 1, 2, 3, 20, 21, 40, 100, 101, 102]  # four, two, one and three pairs of cells of twenty
    partner = partners("race", BIAS, there)
    assert sorted(partner) == there
    assert [one // 20 for one in partner] == [one // 20 for one in there]
    assert [one for one, other in zip(there, partner, strict=True) if one == other] == [40]
    assert partner != partners("race", "v2", there)


def coloured(left: str, right: str) -> bytes:
    """A picture of two faces that are one colour each."""
    picture = Image.new("RGB", stereotypical_bias.PICTURE_SIZE, right)
    picture.paste(left, (0, 0, 200, 200))
    file = BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


@pytest.mark.usefixtures("seeds")
def test_a_set_shows_published_faces_in_pairs_of_its_own_on_the_sides_that_its_items_say() -> None:
    colours = ("red", "lime", "blue", "yellow"), ("maroon", "green", "navy", "olive")  # of the two groups of a cell
    before, now = (stereotypical_bias.pairs("gender", revision).to_pylist() for revision in ("v2", BIAS))
    files = {}
    for number in range(4):
        faces = {0: colours[0][number], 1: colours[1][number]}
        files[f"vision_gender/{number:05d}"] = coloured(faces[before[number]["left"]], faces[before[number]["right"]])

    class Pictures(dict[str, bytes]):
        without: frozenset[str] = frozenset()

    data: Any = SimpleNamespace(images=lambda *place: Pictures(files), used={}, where="here")
    part = vision(benchmark("stereotypical_bias").task("vision_gender"), data, BIAS)
    partner = partners("gender", BIAS, range(4))
    for number, stimulus in enumerate(part.stimuli):
        shown = part.read(number)
        assert shown.asks[0].id.startswith(stimulus.id)
        picture = Image.open(BytesIO(shown.images[0])).convert("RGB")
        faces = {0: colours[0][number], 1: colours[1][partner[number]]}
        for side, place in (("left", (100, 100)), ("right", (300, 100))):
            wanted = ImageColor.getrgb(faces[now[number][side]])
            assert np.abs(np.asarray(picture)[place[1], place[0]].astype(int) - wanted).max() < 12, (number, side)
