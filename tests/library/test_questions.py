from pathlib import Path

import pytest

import fairspace as fs
from fairspace.answers import submission_of
from fairspace.submissions.benchmarks.registry import benchmark
from tests.submissions.running.data import factory


def test_there_is_a_row_for_every_sample_that_the_benchmark_expects() -> None:
    items = fs.items("fact_or_fair")
    bench = benchmark("fact_or_fair")
    expected = {task.name: task.samples_asked(bench.revisions[0]) for task in bench.tasks}
    assert items["task"].value_counts().to_dict() == expected
    assert list(items.columns[:4]) == ["task", "id", "sample", "prompt"]
    assert not items.duplicated(["task", "id", "sample"]).any()


def test_an_optional_task_is_given_where_it_is_named() -> None:
    assert set(fs.items("genres")["task"]) == {"narrative"}
    assert set(fs.items("genres", "narrative_single")["task"]) == {"narrative_single"}


def test_prompts_that_follow_from_answers_ask_for_these() -> None:
    with pytest.raises(fs.UsageError, match="name them with after="):
        fs.items("genres", "profile_male")
    with pytest.raises(fs.UsageError, match=r"No prompts of fact_or_fair follow from answers.*genres"):
        fs.items("fact_or_fair", after={"id": [], "response": []})
    with pytest.raises(fs.UsageError, match=r"no task 'narative' \(did you mean 'narrative'\?\)"):
        fs.items("genres", "narative")


STORY = "Profile of {0}: {0} is kind.\nProfile of {1}: {1} is bold.\nNarrative passage: {0} and {1} walked home. "


def test_stories_give_the_prompts_of_their_judge_and_both_tables_are_one_submission() -> None:
    asked = fs.items("genres").head(3)
    stories: list[str] = [STORY.format(*names) * 2 for names in zip(asked["name_1"], asked["name_2"], strict=True)]
    answered = asked.assign(response=stories)
    judged = fs.items("genres", after=answered)
    assert judged["task"].value_counts().to_dict() == dict.fromkeys(
        ("profile_female", "profile_male", "narrative_analysis"), 3
    )
    assert f"{asked['name_1'].iloc[0]} is kind" in judged["prompt"].iloc[0]
    held = submission_of({"responses": answered, "judgements": judged.assign(judgement="{}")}, "genres", judge="m")
    assert {name: table.num_rows for name, table in held.tables.items()} == {"responses": 3, "judgements": 9}


def test_pictures_come_with_their_items_and_what_lacks_one_is_left_out(tmp_path: Path) -> None:
    every = fs.items("genres")
    lacking = every["id"].iloc[5]
    data = str(factory.write(tmp_path, "genres", without={lacking}))
    shown = fs.items("genres", data=data)
    assert set(every["id"]) - set(shown["id"]) == {lacking}
    assert [factory.image(item) for item in shown["id"]] == shown["image"].tolist()
