"""Parts of a run are joined to the bytes of one process, and what is no complete division is refused by name."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairspace.builders.errors import BuildError
from fairspace.builders.part import part_folder
from fairspace.submissions.checking.submission import check_submission, read_submission
from fairspace.submissions.errors import RunError, UsageError
from fairspace.submissions.format.manifest import read_manifest
from fairspace.submissions.results.scoring import limits_of, score_submission
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.joining import join
from fairspace.submissions.running.run import run as run_benchmark
from fairspace.submissions.running.settings import RunSettings
from tests.submissions.running.images import painter
from tests.tiny_ares import random_ares

Run = Callable[..., tuple[int, str, str]]
MODEL = f"python/{Path(__file__).with_name('part_model.py')}:answer"
LIMIT = 6


def run_part(out: Path, part: str, limit: int = LIMIT, **settings: Any) -> Path:
    chosen = ChosenPart("fact_or_fair", limit=limit, dataset_revision="v2-core", part=part)
    folder = part_folder(out, part)
    run_benchmark(RunSettings(chosen, folder, ModelSettings(MODEL), **settings))
    return folder


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole run, and the three parts of it."""
    root = tmp_path_factory.mktemp("ran")
    for part in ("", "0/3", "1/3", "2/3"):
        run_part(root / "mine", part)
    return root


@pytest.fixture
def parts(ran: Path, tmp_path: Path) -> list[Path]:
    """Copies of the three parts, to be damaged."""
    names = [f"mine.part-0000{number}-of-00003" for number in range(3)]
    return [Path(shutil.copytree(ran / name, tmp_path / name)) for name in names]


def meta_of(folder: Path) -> dict[str, Any]:
    meta: dict[str, Any] = json.loads((folder / "submission.json").read_text(encoding="utf-8"))
    return meta


def edit(file: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    data = json.loads(file.read_text(encoding="utf-8"))
    change(data)
    file.write_text(json.dumps(data), encoding="utf-8")


def test_joined_parts_equal_one_process(ran: Path, parts: list[Path], tmp_path: Path) -> None:
    stages = join(parts[::-1], tmp_path / "joined")
    for name in ("responses.parquet", "submission.json"):
        assert (tmp_path / "joined" / name).read_bytes() == (ran / "mine" / name).read_bytes()
    whole = read_manifest(ran / "mine").stages[0]
    (stage,) = stages
    for name in ("requests", "fates", "prompts", "settings", "tasks", "limit", "input_tokens", "output_tokens"):
        assert getattr(stage, name) == getattr(whole, name)
    assert stage.course.pop("parts") == 3
    assert stage.course | {"seconds": 0} == whole.course | {"seconds": 0}
    assert read_submission(tmp_path / "joined").digest == read_submission(ran / "mine").digest
    assert limits_of(score_submission(read_submission(tmp_path / "joined"), resamples=0)) == (
        f"limited to {LIMIT} stimuli a task",
    )


def test_a_part_is_marked_and_never_ranked(parts: list[Path]) -> None:
    assert meta_of(parts[1])["generation"]["part"] == "1/3"
    edit(parts[1] / "submission.json", lambda meta: meta["generation"].pop("limit"))
    edit(parts[1] / "manifest.json", lambda manifest: manifest["stages"][0].pop("limit"))
    result = score_submission(read_submission(parts[1]), resamples=0)
    assert limits_of(result) == ("part 1/3",)
    assert result.scored.part
    assert result.scored.ranked is None
    assert "part 1/3" in result.scored.unranked


def _rows_of_another(parts: list[Path]) -> None:
    rows = [pq.read_table(part / "responses.parquet") for part in parts[:2]]
    pq.write_table(pa.concat_tables([rows[1], rows[0].slice(0, 1)]), parts[1] / "responses.parquet")


def _unfinished(parts: list[Path]) -> None:
    shutil.rmtree(parts[1])
    parts[1].with_name(f"{parts[1].name}.run").mkdir()


def _in_meta(**facts: Any) -> Callable[[list[Path]], None]:
    return lambda parts: edit(parts[1] / "submission.json", lambda meta: meta.update(facts))


def _in_generation(**settings: Any) -> Callable[[list[Path]], None]:
    return lambda parts: edit(parts[1] / "submission.json", lambda meta: meta["generation"].update(settings))


def _without(setting: str) -> Callable[[list[Path]], None]:
    return lambda parts: edit(parts[1] / "submission.json", lambda meta: meta["generation"].pop(setting))


def _in_stage(**facts: Any) -> Callable[[list[Path]], None]:
    return lambda parts: edit(parts[1] / "manifest.json", lambda manifest: manifest["stages"][0].update(facts))


WRONG: dict[str, tuple[Callable[[list[Path]], Any], str]] = {
    "a missing part": (lambda parts: parts.pop(1), "part 1/3 of llm_objective, llm_subjective is missing"),
    "a part twice": (lambda parts: parts.append(parts[1]), "part 1/3 of llm_objective, llm_subjective, which"),
    "an overlap": (_rows_of_another, "in responses of both"),
    "another model": (_in_meta(model="other"), "another model than"),
    "another revision": (_in_meta(revision="other"), "another revision than"),
    "another dataset revision": (_in_meta(dataset_revision="v2"), "another dataset_revision than"),
    "other settings": (_in_generation(temperature=0.5), "another generation temperature than"),
    "fewer settings": (_without("limit"), "another generation limit than"),
    "another division": (_in_generation(part="1/4"), "part 1/4 of llm_objective, llm_subjective, beside part 0/3"),
    "another version": (_in_stage(engine_version="0.1"), "other engine_version of responses"),
    "other settings of a stage": (_in_stage(settings={"temperature": 1}), "of responses of llm_objective"),
    "no answers": (_in_stage(what="images"), "no responses of llm_objective, llm_subjective, unlike"),
    "other tasks": (_in_stage(tasks=["llm_objective"]), "part 1/3 of llm_objective, llm_subjective is missing"),
    "a whole run": (_without("part"), "a whole run of llm_objective, llm_subjective, beside part 0/3"),
    "a damaged mark": (_in_generation(part="3/3"), "part '3/3'"),
    "no submission": (lambda parts: (parts[1] / "submission.json").unlink(), "no submission"),
    "nothing on its run": (lambda parts: (parts[1] / "manifest.json").unlink(), "nothing says how it was run"),
    "an unfinished part": (_unfinished, "a part that is not finished"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_part_is_refused_by_name(wrong: str, parts: list[Path], tmp_path: Path) -> None:
    damage, said = WRONG[wrong]
    damage(parts)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(BuildError, match=f"PARTS_UNJOINABLE at .*mine.part-0000.*: .*{said}"):
        join(parts, tmp_path / "joined")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_whole_run_alone_is_no_part_of_one(ran: Path, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="a whole run, no part of one"):
        join([ran / "mine"], tmp_path / "joined")


def test_works_of_other_tasks_are_joined_where_they_agree(tmp_path: Path) -> None:
    for task in ("llm_objective", "llm_subjective", ""):
        tasks = (task,) if task else ()
        chosen = ChosenPart("fact_or_fair", "", tasks, 3, dataset_revision="v2-core")
        run_benchmark(RunSettings(chosen, tmp_path / (task or "both"), ModelSettings(MODEL)))
    join([tmp_path / "llm_objective", tmp_path / "llm_subjective"], tmp_path / "joined")
    assert (tmp_path / "joined" / "responses.parquet").read_bytes() == (
        tmp_path / "both" / "responses.parquet"
    ).read_bytes()
    edit(tmp_path / "llm_objective" / "submission.json", lambda meta: meta["generation"].update(limit=4))
    with pytest.raises(BuildError, match="generation limit"):
        join([tmp_path / "llm_objective", tmp_path / "llm_subjective"], tmp_path / "other")


def test_an_empty_part_is_a_submission_of_no_rows(tmp_path: Path) -> None:
    run_part(tmp_path / "mine", "", limit=1)
    folders = [run_part(tmp_path / "mine", f"{number}/3", limit=1) for number in range(3)]
    rows = [pq.read_metadata(folder / "responses.parquet").num_rows for folder in folders]
    assert 0 in rows
    empty = folders[rows.index(0)]
    assert [fault.code for fault in check_submission(empty).faults] == ["EMPTY_SUBMISSION"]
    join(folders, tmp_path / "joined")
    for name in ("responses.parquet", "submission.json"):
        assert (tmp_path / "joined" / name).read_bytes() == (tmp_path / "mine" / name).read_bytes()
    edit(empty / "submission.json", lambda meta: meta.update(model="other"))
    with pytest.raises(BuildError, match="another model than"):
        join(folders, tmp_path / "again")


def test_the_journal_of_another_part_is_refused(ran: Path) -> None:
    chosen = ChosenPart("fact_or_fair", limit=LIMIT, dataset_revision="v2-core", part="1/3")
    with pytest.raises(RunError, match=r'RUN_OTHER.*part "0/3", and now "1/3"'):
        run_benchmark(RunSettings(chosen, part_folder(ran / "mine", "0/3"), ModelSettings(MODEL)))


def test_images_of_parts_are_those_of_one_process_under_new_numbers(tmp_path: Path) -> None:
    images, folders = f"python:{painter.FILE}:paint?batch=1", []
    for part in ("", "0/3", "1/3", "2/3"):
        chosen = ChosenPart("fact_or_fair", tasks=("t2i_objective",), limit=6, dataset_revision="v2-core", part=part)
        folders.append(part_folder(tmp_path / "mine", part))
        run_benchmark(RunSettings(chosen, folders[-1], images=images))
    join(folders[1:], tmp_path / "joined")
    whole, joined = (check_submission(tmp_path / name, allow_images=True).submission for name in ("mine", "joined"))
    assert whole is not None
    assert joined is not None
    order = [(name, "ascending") for name in ("task", "id", "sample")]
    assert whole.images is not None
    assert joined.images is not None
    assert joined.images.sort_by(order).equals(whole.images.sort_by(order))
    shards = sorted(file.name for file in (tmp_path / "joined").glob("images*"))
    assert shards == [f"images-{number:05}-of-{len(shards):05}.parquet" for number in range(len(shards))]
    assert meta_of(tmp_path / "joined") == meta_of(tmp_path / "mine")
    shutil.copy(folders[1] / "images-00000-of-00001.parquet", folders[2] / "images-00000-of-00001.parquet")
    with pytest.raises(BuildError, match="in images of both"):
        join(folders[1:], tmp_path / "again")


def test_the_command_says_its_part_first_and_the_join_last(run: Run, tmp_path: Path) -> None:
    words = ("run", "--benchmark", "fact_or_fair", "--dataset-revision", "v2-core", "--limit", 1, "--model", MODEL)
    code, out, error = run(*words, "--out", tmp_path / "mine", "--part", "0/2")
    folder = tmp_path / "mine.part-00000-of-00002"
    assert code == 0, error
    assert out.splitlines()[0] == f"Part 0/2: {folder}"
    following = f"fairspace join {tmp_path}/mine.part-*-of-00002 --out {tmp_path}/mine"
    assert out.splitlines()[-1] == f"Wrote {folder}. Next: {following}"
    code, out, error = run("join", folder, "--out", tmp_path / "mine")
    assert code == 1
    assert "PARTS_UNJOINABLE" in error
    assert "part 1/2" in error


@pytest.mark.parametrize("names", [("RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS")])
def test_a_launchers_rank_is_a_part(names: tuple[str, str], run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(names[0], "1")
    monkeypatch.setenv(names[1], "2")
    words = ("run", "--dry-run", "--benchmark", "fact_or_fair", "--model", "openai/m", "--tasks", "llm_objective")
    code, out, _ = run(*words)
    assert code == 0
    assert out.splitlines()[0] == "Part 1/2, as the launcher's rank says; --part 0/1 is the whole"
    assert "llm_objective by openai/m: 99 of 198 requests" in out
    assert "Part" not in run(*words, "--part", "0/1")[1]
    code, _, error = run(*words, "--part", "2/2")
    assert code == 1
    assert "PART_INVALID" in error


def test_eval_of_a_part_asks_and_leaves_judging_and_scores_to_the_whole(run: Run, tmp_path: Path) -> None:
    words = ("eval", "--benchmark", "fact_or_fair", "--core", "--limit", 2, "--model", MODEL, "--out", tmp_path / "e")
    code, out, error = run(*words, "--part", "1/2")
    assert code == 0, error
    folder = tmp_path / "e" / "fact_or_fair-v2-core" / "submission.part-00001-of-00002"
    assert f"Wrote {folder}. Next: fairspace join" in out
    assert meta_of(folder)["generation"]["part"] == "1/2"
    assert sorted(file.name for file in folder.parent.iterdir()) == [folder.name, f"{folder.name}.run"]
    code, _, error = run(*words, "--part", "1/2", "--judge", MODEL)
    assert code == 2
    assert "fairspace judge" in error


def test_steered_images_of_parts_need_the_joined_neutral_ones(tmp_path: Path) -> None:
    chosen = ChosenPart("iris", tasks=("generation_steer",), part="0/2")
    with pytest.raises(UsageError, match="--after JOINED"):
        run_benchmark(RunSettings(chosen, tmp_path / "mine", images=f"python:{painter.FILE}:paint", ares="clip"))


@pytest.mark.slow
def test_neutral_and_steered_images_in_parts_are_those_of_one_process(tmp_path: Path) -> None:
    """More parts than images of the first round, so that one is empty, labels and all."""

    def made(name: str, tasks: tuple[str, ...], part: str = "", function: str = "paint", **more: Any) -> Path:
        folder = part_folder(tmp_path / name, part)
        chosen = ChosenPart("iris", tasks=tasks, limit=2, part=part)
        images = f"python:{painter.FILE}:{function}?batch=1"
        run_benchmark(RunSettings(chosen, folder, images=images, ares=str(random_ares()), **more))
        return folder

    whole = made("whole", ("generation_neutral", "generation_steer"))
    neutral = [made("neutral", ("generation_neutral",), f"{number}/3") for number in range(3)]
    labelled = [folder for folder in neutral if (folder / "annotations.parquet").is_file()]
    assert 0 < len(labelled) < 3
    with pytest.raises(UsageError, match="Join all parts"):
        made("steer", ("generation_steer",), "0/2", after=labelled[0])
    join(neutral, tmp_path / "neutral")
    with pytest.raises(UsageError, match="Name the neutral images of this model"):
        made("steer", ("generation_steer",), "0/2", "encode", after=tmp_path / "neutral")
    steer = [made("steer", ("generation_steer",), f"{number}/2", after=tmp_path / "neutral") for number in range(2)]
    with pytest.raises(BuildError, match="part 0/2 of generation_steer is missing"):
        join([tmp_path / "neutral", steer[1]], tmp_path / "joined")
    join([tmp_path / "neutral", *steer], tmp_path / "joined")
    assert read_submission(tmp_path / "joined").digest == read_submission(whole).digest
    assert (tmp_path / "joined" / "submission.json").read_bytes() == (whole / "submission.json").read_bytes()
    counts = [
        [
            (stage.what, stage.tasks, stage.requests, stage.fates, stage.prompts)
            for stage in read_manifest(folder).stages
        ]
        for folder in (tmp_path / "joined", whole)
    ]
    assert counts[0] == counts[1]
