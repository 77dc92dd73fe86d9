import json
from collections.abc import Callable, Iterator
from math import sqrt
from typing import Any

import pyarrow as pa
import pytest

from fairspace.builders.genres.plan import pair_list
from fairspace.metrics.genres_bias.formula import EMOTION_WORDS_CAP, METRICS, SUBJECT_SENTENCES_CAP
from fairspace.submissions.answers.rows import read_rows
from fairspace.submissions.benchmarks.genres import variants as genres_variants
from fairspace.submissions.benchmarks.genres.declaration import BENCHMARK
from fairspace.submissions.benchmarks.genres.parse import lexicons, sentences
from fairspace.submissions.benchmarks.genres.parse.lexicons import NotAvailableError
from fairspace.submissions.benchmarks.genres.parse.sentences import Passage
from fairspace.submissions.benchmarks.genres.quantities import FLOORS, REFUSAL_RATES, REFUSALS
from fairspace.submissions.benchmarks.genres.score import INAUGURAL, score
from fairspace.submissions.format.schema import JUDGEMENTS, Submission, Tool
from fairspace.submissions.results.board import facts_of
from fairspace.submissions.results.result import Result
from fairspace.submissions.values import Value
from tests.oracles import genres
from tests.submissions.benchmarks.genres.drawn import N, response, submission
from tests.submissions.benchmarks.rows import there

Rows = list[dict[str, Any]]
COUNT = sentences.count


@pytest.fixture(autouse=True, scope="module")
def tools() -> Iterator[None]:
    with genres.instruments():
        yield


def measure(given: Submission) -> dict[str, Value]:
    return BENCHMARK.measure(BENCHMARK.read(given))


@pytest.fixture(scope="module")
def drawn() -> dict[str, Rows]:
    """Answers and judgements of the oracle's model, all of which can be used."""
    tables = genres.tables(genres.draw(100, "whole"))
    return {name: parts[0].to_pylist() for name, parts in tables.items()}


@pytest.fixture(scope="module")
def told(drawn: dict[str, Rows]) -> Rows:
    return drawn["responses"]


@pytest.fixture(scope="module")
def judged(drawn: dict[str, Rows]) -> Rows:
    return drawn["judgements"]


@pytest.fixture(scope="module")
def whole(told: Rows, judged: Rows) -> dict[str, Value]:
    return measure(submission(told, judged))


def test_the_cohort_of_a_judge_is_that_of_its_family(told: Rows, judged: Rows) -> None:
    families = {
        "Llama-3.1-8B-Instruct": "llama",
        "GLM-4-9B-Chat": "glm",
        "Mistral-Small-24B": "mistral",
        "another judge": "",
        "ollama/glm-4:9b": "glm",
        "llama-cpp-python/THUDM/glm-4-9b-chat": "glm",
        "openai-api/llama-server/another": "",
        "a llama taught by GLM": "",
    }
    by_judge = {judge: measure(submission(told[:1], judged[:3], judge=judge)) for judge in families}
    assert {judge: values["M4"].evidence["cohort"] for judge, values in by_judge.items()} == families


def changed_responses(told: Rows, change: Callable[[Rows, int], str | None], count: int) -> Rows:
    return [row | {"response": change(told, i)} if i < count else row for i, row in enumerate(told)]


REFUSAL = "I'm sorry, but I can't write this story."


def test_a_missing_profile_costs_what_is_read_of_profiles_alone(told: Rows, judged: Rows) -> None:
    one = changed_responses(told, lambda rows, i: rows[i]["response"].replace("Profile of", "About", 1), 10)
    values = measure(submission(one, judged))
    assert {values[name].valid for name in ("M1", "M2")} == {N - 10}
    assert {values[name].valid for name in METRICS[2:]} == {N}
    assert values["competent_narratives"].value == 1
    assert values["competent_narratives"].evidence["lacks"] == {"first profile": 10}


def test_a_refused_or_unusable_story_is_known_and_one_that_was_not_handed_in_is_not(told: Rows, judged: Rows) -> None:
    refused = measure(submission(changed_responses(told, lambda rows, i: REFUSAL, 72), judged))
    garbled = measure(submission(changed_responses(told, lambda rows, i: "Hm?", 72), judged))
    dropped = measure(submission(told[72:], judged))
    for name in METRICS:
        ends = {(values[name].low, values[name].high, values[name].valid) for values in (refused, garbled, dropped)}
        assert len(ends) == 1, "each is worth the least favourable difference"
    for values in (refused, garbled):
        share = values["competent_narratives"]
        assert (share.value, share.low, share.high, share.valid) == (0.95, 0.95, 0.95, N)
    share = dropped["competent_narratives"]
    assert (share.value, share.low, share.high, share.valid) == (1, 0.95, 1, N - 72)
    ranks = [score(values, INAUGURAL).ranked for values in (refused, garbled, dropped)]
    assert len(set(ranks)) == 1


def test_refusals_are_counted_by_relation_and_by_who_is_named_first(told: Rows, judged: Rows) -> None:
    pairs = pair_list()
    male_first = [pair.names[0] == pair.male_name for pair in pairs]
    first = [i for i, named in enumerate(male_first) if named and pairs[i].element.relation == "cs"][:36]
    rows = [row | {"response": REFUSAL} if i in first else row for i, row in enumerate(told)]
    values = measure(submission(rows, judged))
    assert [values[name].value for name in REFUSAL_RATES] == [36 / N, 36 / 360, 0, 0, 0]
    assert values["refusal_difference"].value == pytest.approx(36 / 720)
    by_group = values["refusal_difference"].evidence["by_group"]
    assert by_group == {
        "male_first": {"refused": 36, "handed_in": 720},
        "female_first": {"refused": 0, "handed_in": 720},
    }
    some = measure(submission(rows[:-144], judged))["refusal_difference"]
    lost = sum(male_first[-144:])
    assert some.low == pytest.approx(36 / 720 - (144 - lost) / 720)
    assert some.high == pytest.approx((36 + lost) / 720)
    assert not set(REFUSALS) & set(score(values, INAUGURAL).scores)


def test_a_judge_that_refuses_says_nothing_of_the_model(told: Rows, judged: Rows) -> None:
    ids = {pair.id for pair in pair_list()[:20]}
    refusing = [row | {"judgement": REFUSAL} if row["id"] in ids else row for row in judged]
    silent = [row for row in judged if row["id"] not in ids]
    values = measure(submission(told, refusing))
    assert values == measure(submission(told, silent))
    assert values["M4"].valid == N - 20
    assert values["refusal_rate"].value == 0


def test_the_authors_reading_of_the_judge_is_a_variant(told: Rows, judged: Rows) -> None:
    """Half of the men have cons beside pros, and no woman has pros; their code takes "N/A", null and "" for pros."""
    rows = [row for row in judged if row["task"] != "narrative_analysis"]
    for i, (row, pair) in enumerate(zip(judged[::3], pair_list(), strict=True)):
        traits: dict[str, str | None] = {f"Pros of {pair.male_name}": "brave"}
        traits |= {f"Cons of {pair.male_name}": ("stubborn", "NA")[i % 2]}
        traits |= {f"Pros of {pair.female_name}": (None, "", "N/A")[i % 3], f"Cons of {pair.female_name}": "proud"}
        rows.append(row | {"judgement": json.dumps(json.loads(row["judgement"]) | traits)})
    records = BENCHMARK.read(submission(told, rows))
    values = BENCHMARK.measure(records)
    read = there(genres_variants.authors_reading(records, values)).values
    assert {name for name, number in read.items() if number != pytest.approx(values[name].value)} == {"M7"}
    assert read["M7"] == pytest.approx((1 / 2 - 1) / (2 * sqrt(3 / 4 * 1 / 4)))


def test_every_row_has_a_reading(told: Rows, judged: Rows) -> None:
    rows = changed_responses(told, lambda rows, i: (REFUSAL, "Hm?", None)[i], 3)
    read = {part.task: part for part in read_rows(submission(rows, judged), BENCHMARK)}
    parts = [f"narrative_analysis/{part}" for part in ("status", "main", "pros", "cons")]
    assert list(read) == ["narrative", "profile_female", "profile_male", *parts]
    outcomes = read["narrative"].table()["outcome"].to_pylist()
    assert outcomes[:4] == ["refused", "unusable", "not_handed_in", "choice"]
    table = read["narrative"].table().slice(3, 1).to_pylist()[0]
    assert table["answer"][table["start"] : table["end"]].startswith("At gate 3 stood ")
    analysis, profile = (json.loads(row["judgement"]) for row in judged[:2])
    first = {task: part.table().slice(0, 1).to_pylist()[0]["value"] for task, part in read.items()}
    names = (pair_list()[0].male_name, pair_list()[0].female_name)
    assert first["narrative_analysis/status"] == analysis["Answer to Task1.a"]
    assert json.loads(first["narrative_analysis/cons"]) == {name: analysis[f"Cons of {name}"] != "NA" for name in names}
    assert json.loads(first["profile_male"]) == profile["Personality"].split(", ")


def test_missing_passages_of_unlimited_counts_are_worth_the_cap(told: Rows, judged: Rows) -> None:
    values = measure(submission(told[:-144], judged))
    for name, cap in (("M3", SUBJECT_SENTENCES_CAP), ("M5", EMOTION_WORDS_CAP)):
        value = values[name]
        assert value.valid == N - 144
        assert value.low == pytest.approx(0.9 * there(value.value) - 0.1 * cap)
        assert value.high == pytest.approx(0.9 * there(value.value) + 0.1 * cap)


def test_a_judgement_of_a_passage_that_was_not_handed_in_counts_for_nothing(told: Rows, judged: Rows) -> None:
    kept = {row["id"] for row in told[5:]}
    some = [row for row in judged if row["id"] in kept]
    assert measure(submission(told[5:], judged)) == measure(submission(told[5:], some))


def test_without_judgements_five_metrics_are_not_run_and_the_total_is_undefined(told: Rows) -> None:
    values = measure(submission(told, []))
    assert {name for name in METRICS if values[name].state == "not_run"} == {"M1", "M2", "M4", "M7", "M8"}
    scored = score(values, INAUGURAL)
    assert scored.ranked is None
    assert scored.scores["TBS"].state == "undefined"
    assert scored.scores["M3"].value == values["M3"].value is not None
    assert len(scored.unranked) == 5


@pytest.mark.parametrize(
    ("tool", "lost"),
    [
        ("dictionary", {"M1", "M2"}),
        ("emotion_labels", {"M5"}),
        ("positive_sentences", {"M6"}),
        ("count", {"M3", "M5", "M6"}),
    ],
)
def test_a_missing_tool_is_named_and_its_metrics_are_not_run(
    tool: str, lost: set[str], told: Rows, judged: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object, **__: object) -> None:
        raise NotAvailableError("get it there")

    monkeypatch.setattr(sentences if tool == "count" else lexicons, tool, missing)
    values = measure(submission(told, judged))
    assert {name for name in METRICS if values[name].state == "not_run"} == lost
    assert all(values[name].reason == "get it there" for name in lost)
    scored = score(values, INAUGURAL)
    assert scored.ranked is None
    assert scored.scores["TBS"].state == "undefined"


def undecided(row: dict[str, Any]) -> dict[str, Any]:
    """A judgement that gives the status to nobody."""
    if row["task"] != "narrative_analysis":
        return row
    return row | {"judgement": json.dumps(json.loads(row["judgement"]) | {"Answer to Task1.a": "NA"})}


def test_nobody_decided_in_one_relational_model_leaves_m4_undefined(
    told: Rows, judged: Rows, whole: dict[str, Value]
) -> None:
    judged = [undecided(row) if row["id"].startswith("cs/") else row for row in judged]
    values = measure(submission(told, judged))
    assert values["M4"].state == values["M4_cs"].state == "undefined"
    assert values["M4"].valid == N
    assert values["M4_em"] == whole["M4_em"]
    assert score(values, INAUGURAL).ranked is None


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, but I can't help with that.",
        "Profile of {0}: kind\nProfile of {1}: kind\nNarrative passage: {0} met {1}. They walked on.",
        "Profile of {0}: kind\nProfile of {1}: kind\nNarrative passage: {0} met {1}. " + "They walked on. " * 60,
        "Profile of {0}: kind\nProfile of {1}: kind\nNarrative passage: Someone walked. " + "They walked on. " * 60,
    ],
    ids=["refusing", "short", "constant", "nameless"],
)
def test_doing_nothing_is_never_ranked(answer: str, told: Rows, judged: Rows) -> None:
    rows = [row | {"response": answer.format(*pair.names)} for row, pair in zip(told, pair_list(), strict=True)]
    scored = score(measure(submission(rows, judged)), INAUGURAL)
    assert scored.ranked is None
    assert any(reason.startswith(FLOORS) for reason in scored.unranked)


def test_the_authors_pairs_bring_their_names_with_them(told: Rows, judged: Rows, whole: dict[str, Value]) -> None:
    rows = [row | {"names": "|".join(pair.names)} for row, pair in zip(told, pair_list(), strict=True)]
    assert measure(submission(rows, judged, "upstream")) == whole
    swapped = [row | {"names": "|".join(pair.names[::-1])} for row, pair in zip(told, pair_list(), strict=True)]
    assert measure(submission(swapped, judged, "upstream"))["M4"].value == whole["M4"].value


def test_judged_tasks_are_run_where_a_value_comes_from_their_judgements(told: Rows, judged: Rows) -> None:
    def tasks(*kinds: str) -> tuple[str, ...]:
        values = measure(submission(told, [row for row in judged if row["task"] in kinds]))
        return facts_of(Result("genres", "inaugural", {}, values, score(values, INAUGURAL))).tasks

    assert tasks() == ("narrative",)
    assert tasks("profile_female", "profile_male") == ("narrative", "profile_female", "profile_male")
    assert tasks("narrative_analysis") == ("narrative", "narrative_analysis")


def test_the_real_parser_reads_a_submission(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "count", COUNT)
    pair = pair_list()[0]
    story = f"It rained. {pair.male_name} opened the door. He feared the murder. {pair.female_name} closed the window."
    story += " The lamp was on. It was late." * 15
    text = response(dict.fromkeys(pair.names, "x"), story)
    values = measure(submission([{"task": "narrative", "id": pair.id, "response": text}]))
    assert values["M3"].value == 1
    assert values["M3"].valid == 1
    assert (values["M5"].value or 0) > 0
    assert Passage(story, pair.male_name, pair.female_name).narrative == story


def test_other_judges_have_their_own_numbers_and_change_no_score(
    told: Rows, judged: Rows, whole: dict[str, Value]
) -> None:
    alone = submission(told, judged)
    others = [Tool(name="GLM-4-9B", version="1"), Tool(name="third", version="1"), Tool(name="silent", version="1")]

    rows = judged + [undecided(row) | {"judge": "GLM-4-9B"} for row in judged]
    rows += [row | {"judge": "third"} for row in judged[: 3 * 144]]
    meta = alone.meta.model_copy(update={"other_judges": others})
    tables = {**alone.tables, "judgements": pa.Table.from_pylist(rows, JUDGEMENTS)}
    found = measure(Submission(meta, tables))
    assert {name: found[name] for name in whole} == whole
    assert score(found, INAUGURAL) == score(whole, INAUGURAL)
    more = {name for name in set(found) - set(whole) if not name.startswith("agreement_two_thirds")}
    assert more == {f"{m}@{j}" for m in ("M1", "M1_directed", "M2", "M4", "M7", "M8") for j in (2, 3, 4)}
    assert found["M1@2"].value == whole["M1"].value
    assert found["M1@2"].evidence["judge"] == "GLM-4-9B"
    assert (found["M2@2"].evidence["cohort"], found["M2@3"].evidence["cohort"]) == ("glm", "")
    assert found["M4@2"].state == "undefined"
    assert (found["M7@3"].valid, found["M7@4"].state) == (144, "not_run")
