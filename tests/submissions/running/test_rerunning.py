"""Models and judges that are asked again for a drawn part of a submission."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("inspect_ai")
pytest.importorskip("openai")

from fairspace.builders.genres.plan import pair_list
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.commands.verify_submission import show_verification
from fairspace.submissions.errors import RunError, UsageError
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.judging import judge
from fairspace.submissions.running.rerunning.agreement import Agreement, PartAgreement
from fairspace.submissions.running.rerunning.rerun import SEED, Means, Verification, judge_again, proof_of, rerun
from fairspace.submissions.running.run import run as run_benchmark
from fairspace.submissions.running.settings import RunSettings

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("served")]  # Inspect takes seconds to import
MODEL = ModelSettings("openai-api/served/served-text", connections=8)
JUDGE = ModelSettings("openai-api/served/served-judge", connections=8)
TASK, ANALYSES = "llm_subjective", "narrative_analysis"
ALIKE = PartAgreement(Agreement(9, 1.0, 0.7, 1.0, 1.0, 0.5, 0.0, 0.0, 0.1))
PARTS = {"profile_female", "profile_male", *(f"{ANALYSES}/{part}" for part in ("status", "main", "stereoscopic"))}


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory, served: object) -> Submission:
    out = tmp_path_factory.mktemp("run") / "mine"
    run_benchmark(RunSettings(ChosenPart("fact_or_fair", tasks=(TASK,), limit=60, seed=3), out, model=MODEL))
    return read_submission(out)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, served: object) -> Path:
    path = tmp_path_factory.mktemp("judged") / "mine"
    chosen = ChosenPart("genres", tasks=("narrative",), limit=40, seed=3, text_only=True)
    run_benchmark(RunSettings(chosen, path, model=MODEL))
    judge(path, [JUDGE], seed=5)
    return path


@pytest.fixture(scope="module")
def judged(folder: Path) -> Submission:
    return read_submission(folder)


def with_rows(submission: Submission, table: str, column: str, values: list[str], out: Path) -> Submission:
    """A copy with other values in a column."""
    rows = submission.tables[table]
    place = rows.schema.get_field_index(column)
    changed = rows.set_column(place, rows.schema.field(place), pa.array(values, pa.string()))
    return read_submission(write_submission(out, submission.meta, {**submission.tables, table: changed}))


def test_an_honest_submission_agrees_and_its_outcome_says_what_was_compared(
    answered: Submission, tmp_path: Path
) -> None:
    outcome = rerun(answered, Means(MODEL), tmp_path / "work", items=120)
    assert (outcome.verdict, outcome.reasons) == ("agrees", ())
    assert outcome.comparison is not None
    assert outcome.comparison.whole.agreement == 1
    assert outcome.comparison.whole.foreign_high < 0.2
    assert outcome.to_json()["part"][TASK] >= 120
    assert not (tmp_path / "work" / "second").exists()  # one rerun was enough
    assert json.loads((tmp_path / "work" / SEED).read_text())["seed"] == outcome.seed
    show_verification(outcome)


def test_replaced_answers_are_refused(answered: Submission, tmp_path: Path) -> None:
    random, texts = np.random.default_rng(1), answered.tables["responses"]["response"].to_pylist()
    words = [random.choice(list("ABCD")) if random.random() < 0.4 else text for text in texts]
    replaced = with_rows(answered, "responses", "response", words, tmp_path / "replaced")  # 30 % are another answer
    outcome = rerun(replaced, Means(MODEL), tmp_path / "work", items=120)
    assert outcome.comparison is not None
    assert outcome.comparison.whole.agreement < 0.85
    assert outcome.verdict != "agrees"
    with pytest.raises(UsageError, match="another submission"):
        rerun(answered, Means(MODEL), tmp_path / "work")


def agreed(submission: Submission) -> Verification:
    proof = proof_of(submission)
    return Verification("agrees", (), submission.digest, ALIKE, "", "m", {}, "", (), proof)


def test_a_judge_that_is_asked_again_agrees_with_its_own_judgements(judged: Submission, tmp_path: Path) -> None:
    asked = judge_again(judged, JUDGE, tmp_path, items=90)
    whole = asked.comparison.whole
    assert set(asked.comparison.tasks) == PARTS
    assert {one.requests for one in asked.comparison.tasks.values()} == {30}
    assert (asked.comparison.verdict, whole.agreement, whole.kappa and whole.kappa[0]) == ("agrees", 1, 1)
    assert json.loads((tmp_path / "seed.json").read_text())["seed"] == asked.seed
    assert not (tmp_path / "judge-second").exists()
    outcome = agreed(judged).with_judgements(judged, asked)
    assert (outcome.verdict, outcome.reasons) == ("agrees", ())
    published = outcome.to_json()["judgements"]
    assert published["declared"] == published["asked"] == JUDGE.name
    assert published["agreement"]["kappa_low"] == pytest.approx(whole.kappa[1], abs=1e-4)  # type: ignore[index]


def test_replaced_judgements_refuse_the_row(judged: Submission, tmp_path: Path) -> None:
    """In a share of the analyses the man's name stands in place of the judge's choice."""
    random, names = Random(1), {pair.id: pair.names for pair in pair_list()}
    rows = judged.tables["judgements"].to_pylist()
    for row in rows:
        if row["task"] == ANALYSES and random.random() < 0.6:
            he = names[row["id"]][random.randrange(2)]
            row["judgement"] = json.dumps({"Answer to Task1.a": he, "Answer to Task1.b": he})
    texts = [row["judgement"] for row in rows]
    replaced = with_rows(judged, "judgements", "judgement", texts, tmp_path / "replaced")
    asked = judge_again(replaced, JUDGE, tmp_path / "work", items=120)
    assert asked.comparison.tasks["profile_female"].agreement == 1
    assert asked.comparison.tasks[f"{ANALYSES}/status"].agreement < 0.8
    outcome = agreed(replaced).with_judgements(replaced, asked)
    assert outcome.verdict == "differs"
    assert JUDGE.name in outcome.reasons[0]
    with pytest.raises(UsageError, match="another submission"):
        judge_again(judged, JUDGE, tmp_path / "work", items=120)


def test_a_score_that_rests_on_a_judge_nobody_asked_is_not_verified(judged: Submission) -> None:
    outcome = agreed(judged).with_judgements(judged, None)
    assert outcome.verdict == "undecided"
    assert outcome.uncovered == ("profile_female", "profile_male", ANALYSES)
    assert JUDGE.name in outcome.reasons[0]
    stories = {"responses": judged.tables["responses"]}
    unjudged = Submission(judged.meta.model_copy(update={"judge": None}), stories, "0" * 64)
    assert agreed(unjudged).with_judgements(unjudged, None).verdict == "agrees", "no score rests on a judge"
    with pytest.raises(UsageError, match="no judgements"):
        judge_again(unjudged, JUDGE, Path("nowhere"))


def test_a_judge_that_cannot_be_asked_is_named(judged: Submission, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"MODEL_UNKNOWN.*no-such-provider/judge"):
        judge_again(judged, ModelSettings("no-such-provider/judge"), tmp_path)


def test_the_command_asks_model_and_judge_and_says_what_it_cannot_ask(
    run: Callable[..., tuple[int, str, str]], folder: Path, tmp_path: Path
) -> None:
    def verified(*options: object) -> tuple[int, str]:
        code, out, err = run("verify-submission", folder, "--model", MODEL.name, "--items", 90, *options)
        return code, " ".join((out + err).split())

    work = ("--out", tmp_path / "work")
    code, text = verified(*work)
    assert code == 1
    assert f"its score rests on judgements of {JUDGE.name}, which was not asked again: name it with --judge" in text
    code, text = verified(*work, "--judge", JUDGE.name)
    assert (code, "The answers agree with the model's." in text) == (0, True)
    assert f"Judgements of {JUDGE.name}, asked again of {JUDGE.name}" in text
    other = ("--out", tmp_path / "other")  # a folder of another judge's is refused before this one is opened
    code, text = verified(*other, "--judge", "python/json:dumps", "--judge-argument", "exotic=1")
    assert (code, "argument 'exotic'" in text) == (1, True), "a judge on this machine gets arguments of its own"
    code, text = verified(*work, "--judge-argument", "batch=2")
    assert (code, "name it with --judge" in text) == (2, True)
