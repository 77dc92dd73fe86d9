from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq

from fairspace.builders.genres.plan import pair_list
from fairspace.submissions.benchmarks.genres.ask import judge_items
from fairspace.submissions.format.writing import write_submission
from tests.submissions.benchmarks.genres.drawn import response, submission


def test_each_profile_goes_to_the_task_of_its_gender_and_the_passage_with_its_questions() -> None:
    for revision in ("v1", "upstream"):
        for pair in pair_list()[::360]:
            first, second = pair.names if revision == "v1" else ("Emma", "Levi")
            text = response({first: "one", second: "two"}, f"{first} met {second}.")
            row = {"task": "narrative", "id": pair.id, "response": text}
            unsplit = row | {"id": pair_list()[-1].id, "response": "no"}
            names = {"names": f"{first}|{second}"} if revision == "upstream" else {}
            found = judge_items(submission([row | names, unsplit | names], revision=revision))
            assert {task: table["id"].to_pylist() for task, table in found.items()} == {
                task: [pair.id] for task in ("profile_female", "profile_male", "narrative_analysis")
            }
            prompts = {task: table["prompt"][0].as_py() for task, table in found.items()}
            woman = "one" if revision == "upstream" or pair.female_first else "two"
            assert prompts["profile_female"].endswith(f"Profile:\n{woman}")
            assert prompts["profile_male"].endswith(f"Profile:\n{'two' if woman == 'one' else 'one'}")
            assert prompts["narrative_analysis"].endswith(f"Narrative passage:\n{first} met {second}.")
            assert f"two characters, {first} and {second}" in prompts["narrative_analysis"]
            assert ("conflict" in prompts["narrative_analysis"]) == (pair.element.plot == "conflict")


def test_the_command_writes_them_for_a_submission_of_this_benchmark(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    pair = pair_list()[0]
    whole = response(dict.fromkeys(pair.names, "one"), "They met.")
    for place, (text, bench, ended, message) in enumerate(
        (
            (whole, "genres", 0, ""),
            (None, "genres", 2, "no narrative"),
            (whole, "iris", 2, "The answers are to genres, not to iris"),
        )
    ):
        given = submission([{"task": "narrative", "id": pair.id, "response": text}])
        told = write_submission(tmp_path / f"told-{place}", given.meta, given.tables)
        code, _, err = run("items", bench, "--after", told, "--out", tmp_path / f"items-{place}")
        assert code == ended
        assert message in err
        assert (judge_items(given) == {}) == (text is None)
    assert pq.read_table(tmp_path / "items-0" / "narrative_analysis.parquet")["id"].to_pylist() == [pair.id]
