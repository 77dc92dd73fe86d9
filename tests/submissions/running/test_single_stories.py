from pathlib import Path

import pytest

from fairspace.submissions.benchmarks.genres.parse import lexicons, sentences
from fairspace.submissions.benchmarks.genres.parse.judge import row_readings
from fairspace.submissions.benchmarks.genres.parse.lexicons import NotAvailableError
from fairspace.submissions.checking.submission import check_submission, read_submission
from fairspace.submissions.results.scoring import score_submission
from fairspace.submissions.running.asking.inspect_task import ChosenPart, open_benchmark
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.judging.judging import judge
from fairspace.submissions.running.run import run
from fairspace.submissions.running.settings import RunSettings
from tests.served.environment import served  # noqa: F401, a fixture

CHOSEN = ChosenPart("genres", tasks=("narrative", "narrative_single"), limit=3, text_only=True)


@pytest.mark.slow  # a run and a judge through Inspect, which takes seconds to import
@pytest.mark.usefixtures("served")
def test_a_run_with_stories_of_one_is_judged_and_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser, which loads slowly, is left out; its counts are tested elsewhere."""

    def none(*_: object, **__: object) -> None:
        raise NotAvailableError("not in this test")

    monkeypatch.setattr(sentences, "count", none)
    monkeypatch.setattr(lexicons, "dictionary", none)
    model = ModelSettings("openai-api/served/served-text", connections=4)
    run(RunSettings(CHOSEN, tmp_path / "mine", model=model))
    submission = read_submission(tmp_path / "mine")
    rows = submission.rows("responses", "narrative_single")
    assert (submission.rows("responses", "narrative").num_rows, rows.num_rows) == (3, 6)
    assert len({item.rpartition("/")[0] for item in rows["id"].to_pylist()}) == 3  # the man and the woman of each pair

    judge(tmp_path / "mine", [ModelSettings("openai-api/served/mistral", connections=4)])
    report = check_submission(tmp_path / "mine")
    assert report.ok
    judged = read_submission(tmp_path / "mine")
    assert {task: judged.judgements(task).num_rows for task in ("profile_single", "analysis_single")} == {
        "profile_single": 6,
        "analysis_single": 6,
    }
    (readings,) = (each for name, each in row_readings(judged).items() if name == "narrative_single")
    assert {reading.outcome for reading in readings.distinct} == {"choice"}
    values = score_submission(judged, resamples=100).values
    assert values["M7_single"].valid == 3
    assert values["M7_single_male"].state == "value"
    assert values["M7_less_single"].state in ("value", "undefined")
    assert values["refusal_rate_single_female"].value == 0
    assert values["M3_single"].state == "not_run"


def test_a_run_of_no_tasks_in_particular_leaves_the_optional_one_out() -> None:
    opened = open_benchmark(ChosenPart("genres", limit=3, text_only=True))
    assert list(opened.parts) == ["narrative"]
