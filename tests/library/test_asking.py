from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import fairspace as fs
from fairspace.builders.errors import BuildError

BENCHMARK, CORE = "fact_or_fair", "v2-core"
FEW: dict[str, Any] = {"dataset_revision": CORE, "limit": 2, "tasks": ["llm_subjective"]}


def test_every_prompt_is_asked_once_and_reaches_its_item() -> None:
    asked: Counter[str] = Counter()

    def answer(prompt: str) -> str:
        asked[prompt] += 1
        return f"A {len(prompt)}"

    answers = fs.run(answer, BENCHMARK, **FEW)
    items = fs.items(BENCHMARK, "llm_subjective", dataset_revision=CORE).set_index("id")["prompt"]
    frame = answers.to_frame()
    assert frame["response"].tolist() == [f"A {len(items[item])}" for item in frame["id"]]
    assert asked == Counter(items[frame["id"]].tolist())
    assert answers.submission.meta.generation["limit"] == 2
    (stage,) = answers.submission.manifest.stages  # type: ignore[union-attr]
    assert (stage.engine, stage.model) == ("inspect_ai", "python/answer")
    assert stage.fates == {"answered": 10, "refused": 0, "failed": 0}


@pytest.mark.parametrize("options", [{"workers": 4}, {"batch": 3}, {"batch": 4, "workers": 2}])
def test_workers_and_batches_change_no_answer(options: dict[str, Any]) -> None:
    def one(prompt: str, seed: int) -> str:
        return f"{len(prompt)} {seed}"

    def several(prompt: list[str], seed: list[int]) -> list[str]:
        return list(map(one, prompt, seed))

    plain = fs.run(one, BENCHMARK, seed=1, **FEW)
    other = fs.run(several if "batch" in options else one, BENCHMARK, seed=1, **FEW, **options)
    assert plain.to_frame().equals(other.to_frame())
    assert plain.to_frame()["response"].nunique() > 5


def test_an_error_names_the_item_and_the_same_call_goes_on(tmp_path: Path) -> None:
    asked: Counter[str] = Counter()
    broken = True

    def answer(prompt: str) -> str | None:
        asked[prompt] += 1
        if broken and len(asked) > 4:
            raise TimeoutError("no answer from the server")
        return "A"

    with pytest.raises(fs.RunError, match=r"answer, task llm_subjective, item \S+, sample 0.*TimeoutError: no answer"):
        fs.run(answer, BENCHMARK, folder=tmp_path / "mine", **FEW)
    broken = False
    answers = fs.run(answer, BENCHMARK, folder=tmp_path / "mine", **FEW)
    assert sorted(asked.values()) == [1] * 9 + [4]  # three times before the error, once after
    assert answers.to_frame()["response"].tolist() == ["A"] * 10
    assert fs.score(tmp_path / "mine", resamples=0).meta["model"] == "answer"


def test_an_item_that_always_fails_can_be_left_out_and_none_is_a_refusal() -> None:
    def answer(prompt: str) -> str | None:
        if len(prompt) % 2:
            raise ValueError("odd")
        return None

    frame = fs.run(answer, BENCHMARK, on_error="keep", **FEW).to_frame()
    items = fs.items(BENCHMARK, "llm_subjective", dataset_revision=CORE).set_index("id")["prompt"]
    assert 0 < len(frame) < 10
    assert all(len(items[item]) % 2 == 0 for item in frame["id"])
    assert "response" not in frame or frame["response"].isna().all()


@pytest.mark.slow  # imports Inspect
def test_what_a_function_returns_and_takes_is_checked_at_once() -> None:
    with pytest.raises(fs.RunError, match=r"the function returned 7\. Expected: a text"):
        fs.run(lambda prompt: 7, BENCHMARK, **FEW)
    with pytest.raises(fs.RunError, match="str for 4 prompts"):
        fs.run(lambda prompts: "A", BENCHMARK, batch=4, **FEW)
    with pytest.raises(fs.UsageError, match="named model has connections"):
        fs.run("openai/none", BENCHMARK, workers=4)
    with pytest.raises(fs.UsageError, match="temperature: these settings are for a named model"):
        fs.run(lambda prompt: "A", BENCHMARK, temperature=1.0)
    for model in (lambda prompt: "A", "openai/none"):
        with pytest.raises(fs.UsageError, match=r"unknown argument 'data_revision' .did you mean 'dataset_revision'"):
            fs.run(model, BENCHMARK, data_revision="v2-core")
    for data, says in (
        ("", r"data=: a .*text_only=True$"),
        ("./none", r"Mend: make one with `.*--out built`"),
    ):
        with pytest.raises(fs.RunError, match=f"DATA_MISSING.*{says}"):
            fs.run(lambda prompt: "A", "genres", data=data)
    with pytest.raises(fs.UsageError, match="The model is int"):
        fs.run(7, BENCHMARK)  # type: ignore[arg-type]


def test_answers_that_cannot_be_read_are_asked_for_anew_as_the_benchmark_says() -> None:
    asked: Counter[str] = Counter()

    def answer(prompt: str) -> str:
        asked[prompt] += 1
        return "A" if asked[prompt] > 2 else f"hm {asked[prompt]}"

    answers = fs.run(answer, BENCHMARK, dataset_revision=CORE, limit=2, tasks=["llm_objective"])
    assert set(answers.to_frame()["response"]) == {"A"}
    assert set(asked.values()) <= {3, 4}  # 4: of two options, two of three orders are one prompt


def test_another_function_does_not_go_on_in_a_folder(tmp_path: Path) -> None:
    def first(prompt: str) -> str:
        return "A"

    def second(prompt: str) -> str:
        return "B"

    fs.run(first, BENCHMARK, folder=tmp_path / "mine", **FEW)
    with pytest.raises(fs.RunError, match="RUN_OTHER"):
        fs.run(second, BENCHMARK, folder=tmp_path / "mine", **FEW)


def test_parts_are_joined_to_one_run(tmp_path: Path) -> None:
    asked: Counter[str] = Counter()

    def answer(prompt: str) -> str:
        asked[prompt] += 1
        return f"A {len(prompt)}"

    whole = fs.run(answer, BENCHMARK, folder=tmp_path / "whole", **FEW)
    parts = [fs.run(answer, BENCHMARK, folder=tmp_path / "mine", part=f"{number}/9", **FEW) for number in range(9)]
    assert asked.total() == 2 * len(whole.to_frame())
    folders = sorted(tmp_path.glob("mine.part-*-of-00009"))
    joined = fs.join([*folders[3:], *map(str, folders[:3])], tmp_path / "mine")
    assert joined.submission.digest == whole.submission.digest
    assert [part.submission.meta.generation["part"] for part in parts] == [f"{number}/9" for number in range(9)]
    rows = [len(part.to_frame()) for part in parts]
    assert sum(rows) == len(whole.to_frame())
    assert 0 in rows
    assert list(parts[rows.index(0)].to_frame()) == ["task", "id", "sample", "response"]
    with pytest.raises(fs.UsageError, match="something at"):
        fs.join(folders, tmp_path / "mine")
    for wrong in ("9/9", "third"):
        with pytest.raises(BuildError, match="PART_INVALID") as refused:
            fs.run(answer, BENCHMARK, part=wrong, **FEW)
        assert "part=" in str(refused.value)
        assert "--part" not in str(refused.value)
