import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from fairspace.submissions.answers.rows import read_rows
from fairspace.submissions.answers.second import FEWEST, SecondReadings, answers_to_read, load_second, second_variant
from fairspace.submissions.benchmarks.baselines import baseline_meta
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.reading.canonical import digest, in_order
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import variant_scores
from fairspace.submissions.running.judging import NO_CHOICE, prompt_of, said_choice
from fairspace.submissions.show.instruments import instrument

Run = Callable[..., tuple[int, str, str]]
UNREAD = "My vote is for the one with the longer name."
READER = """
import json

def read(prompt):
    question, answer = prompt.partition("<answer>")[0], prompt.partition("<answer>\\n")[2].partition("\\n</answer>")[0]
    said = answer.lower().strip(".").split()[-1]
    return json.dumps({"answer": "female" if said in ("name", "female") else said})
"""


def submission(name: str, every: int, keep: int = 1) -> tuple[Submission, Submission]:
    """Random answers, every `keep`-th row of them, and the same with every n-th in words that no rule reads."""
    bench = benchmark(name)
    tables = bench.baseline("random", 1, bench.revisions[0])
    responses = tables["responses"].take(np.arange(0, tables["responses"].num_rows, keep))
    texts = responses["response"].to_pylist()
    spoiled = pa.array([UNREAD if place % every == 0 else text for place, text in enumerate(texts)], pa.string())
    place = responses.schema.get_field_index("response")
    both = []
    for rows in (responses, responses.set_column(place, responses.schema.field(place), spoiled)):
        held = in_order({"responses": rows})
        meta = baseline_meta("random", name, 1, held).model_copy(update={"baseline": None, "labels": None})
        both.append(Submission(meta, held, digest(meta, held)))
    return both[0], both[1]


@pytest.mark.parametrize(("name", "keep"), [("iris", 40), ("fact_or_fair", 9), ("stereotypical_bias", 30)])
def test_choices_that_are_found_again_give_the_values_as_if_they_had_been_read(name: str, keep: int) -> None:
    bench = benchmark(name)
    whole, spoiled = submission(name, 5, keep)
    rows = list(read_rows(whole, bench))
    names = ((read.task, read.rows["id"].to_pylist(), read.rows["sample"].to_pylist()) for read in rows)
    every = {(task, *key): "" for task, *columns in names for key in zip(*columns, strict=True)}
    known = answers_to_read(whole, bench, rows, every).values()
    truth = {asked.key: asked.rules for answers in known for asked in answers}
    rows = list(read_rows(spoiled, bench))
    tasks = answers_to_read(spoiled, bench, rows)
    for read in rows:
        chosen = int((read.readings.outcomes() == 0).sum())
        again = [asked for asked in tasks.get(read.task, ()) if asked.rules]
        assert len(again) == min(chosen, max(FEWEST, round(0.02 * chosen)))
        assert all(asked.rules in asked.choices for asked in again)
    keys = [asked.key for answers in tasks.values() for asked in answers]
    second = SecondReadings("a", "b", spoiled.digest, {key: truth[key] for key in keys})
    records = bench.read(spoiled)
    values, right = bench.measure(records), bench.measure(bench.read(whole))
    variant = second_variant(second, spoiled, records, rows, values)
    assert variant.values
    for value, number in right.items():
        assert variant.values.get(value, values[value].value) == pytest.approx(number.value, abs=1e-12), value
    assert "on 100.0%" in variant.note


@pytest.mark.slow  # a run through Inspect
def test_a_second_reader_moves_no_measured_value(run: Run, tmp_path: Path) -> None:
    _, spoiled = submission("stereotypical_bias", 4, 607)
    write_submission(tmp_path / "mine", spoiled.meta, spoiled.tables)
    (tmp_path / "reader.py").write_text(READER)
    file = tmp_path / "mine.second.jsonl"
    asked = ("judge", tmp_path / "mine", "--model", f"python/{tmp_path}/reader.py:read")
    assert run(*asked, "--limit", 3)[0] == 0
    some = file.read_text().splitlines()
    code, out, err = run(*asked)
    assert code == 0, err
    assert "language_gender: agrees with the rules on 100.0%" in " ".join(out.split())
    before = file.read_bytes()
    assert set(some) < set(before.decode().splitlines())
    assert run(*asked)[0] == 0  # from the journal
    assert file.read_bytes() == before
    scored = {}
    for more in ((), ("--second", file)):
        code, out, err = run("score", tmp_path / "mine", "--resamples", "0", *more, "--json")
        assert code == 0, err
        scored[bool(more)] = Result.from_json(json.loads(out))
    assert scored[True].values == scored[False].values
    assert scored[True].scored == scored[False].scored
    [variant] = scored[True].variants
    assert variant.kind == "second_reader"
    assert "language_race: agrees with the rules on 100.0% (" in variant.note
    [part] = instrument(scored[True], variant_scores(scored[True], scored[True].standard))
    assert part.notes


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_a_server_reads_by_schema(run: Run, tmp_path: Path) -> None:
    _, spoiled = submission("stereotypical_bias", 4, 2000)
    write_submission(tmp_path / "mine", spoiled.meta, spoiled.tables)
    model = "openai-api/served/served-text"
    code, _, err = run("judge", tmp_path / "mine", "--model", model, "--revision", "7")
    assert code == 0, err
    second = load_second(tmp_path / "mine.second.jsonl", spoiled)
    assert (second.reader, second.revision) == (model, "7")
    assert set(second.read.values()) & set(NO_CHOICE)  # drawn from the schema, which holds all
    assert "" not in second.read.values()
    with pytest.raises(UsageError, match="readings of other answers"):
        load_second(tmp_path / "mine.second.jsonl", replace(spoiled, digest="0" * 64))
    (tmp_path / "mine.second.jsonl").write_text("[]")
    with pytest.raises(UsageError, match="has no readings of a second reader"):
        load_second(tmp_path / "mine.second.jsonl", spoiled)


def test_what_a_second_reader_says() -> None:
    choices = ("basketball_player", "nurse", *NO_CHOICE)
    for text, read in {
        '{"answer": "Basketball player"}': "basketball_player",
        '```json\n{"answer": "nurse"}\n```': "nurse",
        "Refused.": "refused",
        '{"answer": "pilot"}': "",
        "The answer is the nurse": "",
        "": "",
    }.items():
        assert said_choice(text, choices) == read
    assert len(prompt_of("Who?", "x" * 50_000, choices)) < 13_000
