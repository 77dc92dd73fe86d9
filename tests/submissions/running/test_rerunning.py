import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.commands.verify_submission import show_verification
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.rerunning.rerun import SEED, Means, rerun
from fairspace.submissions.running.run import run
from fairspace.submissions.running.settings import RunSettings
from tests.served.environment import served  # noqa: F401, a fixture

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("served"),
]  # Inspect takes seconds to import
MODEL = ModelSettings("openai-api/served/served-text", connections=8)
TASK = "llm_subjective"


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory, served: None) -> Path:  # noqa: F811
    out = tmp_path_factory.mktemp("run") / "mine"
    run(RunSettings(ChosenPart("fact_or_fair", tasks=(TASK,), limit=60, seed=3), out, model=MODEL))
    return out


def with_replaced(mine: Path, out: Path, share: float) -> Path:
    submission = read_submission(mine)
    table, random = submission.tables["responses"], np.random.default_rng(1)
    words = [random.choice(list("ABCD")) if random.random() < share else text for text in table["response"].to_pylist()]
    place = table.column_names.index("response")
    changed = table.set_column(place, table.schema.field("response"), pa.array(words, pa.string()))
    return write_submission(out, submission.meta, {"responses": changed})


def test_an_honest_submission_agrees_and_its_outcome_says_what_was_compared(mine: Path, tmp_path: Path) -> None:
    outcome = rerun(read_submission(mine), Means(MODEL), tmp_path / "work", items=120)
    assert (outcome.verdict, outcome.reasons) == ("agrees", ())
    assert outcome.comparison is not None
    assert outcome.comparison.whole.agreement == 1
    assert outcome.comparison.whole.foreign_high < 0.2
    assert outcome.to_json()["part"][TASK] >= 120
    assert not (tmp_path / "work" / "second").exists()  # one rerun was enough
    assert json.loads((tmp_path / "work" / SEED).read_text())["seed"] == outcome.seed
    show_verification(outcome)


def test_replaced_answers_are_refused(mine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replaced = read_submission(with_replaced(mine, tmp_path / "replaced", 0.4))  # 30 % are another answer than before
    outcome = rerun(replaced, Means(MODEL), tmp_path / "work", items=120)
    assert outcome.comparison is not None
    assert outcome.comparison.whole.agreement < 0.85
    assert outcome.verdict != "agrees"
    with pytest.raises(UsageError, match="another submission"):
        rerun(read_submission(mine), Means(MODEL), tmp_path / "work")
