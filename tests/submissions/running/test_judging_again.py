import json
import sys
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

pytest.importorskip("inspect_ai")
pytest.importorskip("openai")

from fairspace.builders.genres.plan import pair_list
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.commands import main as cli
from fairspace.submissions.errors import RunError, UsageError
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.judging.judging import judge
from fairspace.submissions.running.rerunning.agreement import Agreement, PartAgreement
from fairspace.submissions.running.rerunning.rerun import Verification, judge_again, proof_of
from fairspace.submissions.running.run import run
from fairspace.submissions.running.settings import RunSettings
from tests.served.environment import served  # noqa: F401, a fixture

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("served")]  # Inspect takes seconds to import
MODEL = "openai-api/served/served-text"
JUDGE = ModelSettings("openai-api/served/served-judge", connections=8)
ANALYSES = "narrative_analysis"
ALIKE = PartAgreement(Agreement(9, 1.0, 0.7, 1.0, 1.0, 0.5, 0.0, 0.0, 0.1))
PARTS = {"profile_female", "profile_male", *(f"{ANALYSES}/{part}" for part in ("status", "main", "stereoscopic"))}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, served: None) -> Path:  # noqa: F811
    path = tmp_path_factory.mktemp("judged") / "mine"
    chosen = ChosenPart("genres", tasks=("narrative",), limit=40, seed=3, text_only=True)
    run(RunSettings(chosen, path, model=ModelSettings(MODEL, connections=8)))
    judge(path, [JUDGE], seed=5)
    return path


@pytest.fixture(scope="module")
def mine(folder: Path) -> Submission:
    return read_submission(folder)


def with_replaced(submission: Submission, share: float, out: Path) -> Submission:
    """A copy in which a share of the analyses name the man in place of the judge's choice."""
    random, names = Random(1), {pair.id: pair.names for pair in pair_list()}
    rows = submission.tables["judgements"].to_pylist()
    for row in rows:
        if row["task"] == ANALYSES and random.random() < share:
            he = names[row["id"]][random.randrange(2)]
            row["judgement"] = json.dumps({"Answer to Task1.a": he, "Answer to Task1.b": he})
    judgements = pa.Table.from_pylist(rows, schema=submission.tables["judgements"].schema)
    return read_submission(write_submission(out, submission.meta, {**submission.tables, "judgements": judgements}))


def agreed(submission: Submission) -> Verification:
    proof = proof_of(submission)
    return Verification("agrees", (), submission.digest, ALIKE, "", "m", {}, "", (), proof)


def test_a_judge_that_is_asked_again_agrees_with_its_own_judgements(mine: Submission, tmp_path: Path) -> None:
    asked = judge_again(mine, JUDGE, tmp_path, items=90)
    whole = asked.comparison.whole
    assert set(asked.comparison.tasks) == PARTS
    assert {one.requests for one in asked.comparison.tasks.values()} == {30}
    assert (asked.comparison.verdict, whole.agreement, whole.kappa and whole.kappa[0]) == ("agrees", 1, 1)
    assert json.loads((tmp_path / "seed.json").read_text())["seed"] == asked.seed
    assert not (tmp_path / "judge-second").exists()
    outcome = agreed(mine).with_judgements(mine, asked)
    assert (outcome.verdict, outcome.reasons) == ("agrees", ())
    published = outcome.to_json()["judgements"]
    assert published["declared"] == published["asked"] == JUDGE.name
    assert published["agreement"]["kappa_low"] == pytest.approx(whole.kappa[1], abs=1e-4)  # type: ignore[index]


def test_replaced_judgements_refuse_the_row(mine: Submission, tmp_path: Path) -> None:
    replaced = with_replaced(mine, 0.6, tmp_path / "replaced")
    asked = judge_again(replaced, JUDGE, tmp_path / "work", items=120)
    assert asked.comparison.tasks["profile_female"].agreement == 1
    assert asked.comparison.tasks[f"{ANALYSES}/status"].agreement < 0.8
    outcome = agreed(replaced).with_judgements(replaced, asked)
    assert outcome.verdict == "differs"
    assert JUDGE.name in outcome.reasons[0]
    with pytest.raises(UsageError, match="another submission"):
        judge_again(mine, JUDGE, tmp_path / "work", items=120)


def test_a_score_that_rests_on_a_judge_nobody_asked_is_not_verified(mine: Submission) -> None:
    outcome = agreed(mine).with_judgements(mine, None)
    assert outcome.verdict == "undecided"
    assert outcome.uncovered == ("profile_female", "profile_male", ANALYSES)
    assert JUDGE.name in outcome.reasons[0]
    stories = {"responses": mine.tables["responses"]}
    unjudged = Submission(mine.meta.model_copy(update={"judge": None}), stories, "0" * 64)
    assert agreed(unjudged).with_judgements(unjudged, None).verdict == "agrees", "no score rests on a judge"
    with pytest.raises(UsageError, match="no judgements"):
        judge_again(unjudged, JUDGE, Path("nowhere"))


def test_a_judge_that_cannot_be_asked_is_named(mine: Submission, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no-such-provider/judge") as refused:
        judge_again(mine, ModelSettings("no-such-provider/judge"), tmp_path)
    assert refused.value.code == "MODEL_UNKNOWN"


def test_the_command_asks_model_and_judge_and_says_what_it_cannot_ask(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def verified(*options: object) -> tuple[int, str]:
        command = ("fairspace", "verify-submission", folder, "--model", MODEL, "--items", "90", *options)
        monkeypatch.setattr(sys, "argv", [*map(str, command)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert isinstance(ended.value.code, int)
        output = capsys.readouterr()
        return ended.value.code, " ".join((output.out + output.err).split())

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
