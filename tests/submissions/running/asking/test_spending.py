from pathlib import Path

import pytest

from fairspace.submissions.errors import RunError
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.asking.journal import JournalEntry
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.asking.prices import Bounds, Price, Spending
from fairspace.submissions.running.run import run
from fairspace.submissions.running.settings import RunSettings
from tests.served import Served


def _answer(number: int, tokens: tuple[int, int]) -> JournalEntry:
    return JournalEntry("t", f"i{number}", 0, "answered", "x", input_tokens=tokens[0], output_tokens=tokens[1])


def test_cost_is_tokens_times_price_of_a_million() -> None:
    spending = Spending(Bounds(price=Price(2.0, 10.0, None)))
    spending.add([_answer(0, (400_000, 50_000)), _answer(1, (100_000, 50_000))])
    assert spending.cost == pytest.approx(0.5 * 2 + 0.1 * 10)


def test_no_bound_is_never_reached() -> None:
    spending = Spending(Bounds())
    spending.add([_answer(0, (10**9, 10**9))])
    spending.check("run")
    assert spending.cost is None


@pytest.mark.parametrize(
    ("bounds", "says"),
    [
        (Bounds(tokens=150), "150 tokens are spent. Expected: less than --token-limit 150"),
        (
            Bounds(cost=0.00039, price=Price(1.0, 6.0, None, "EUR")),
            "0.00 EUR are spent. Expected: less than --cost-limit",
        ),
    ],
)
def test_a_bound_that_is_reached_stops_the_run_and_says_how_to_go_on(bounds: Bounds, says: str) -> None:
    spending = Spending(bounds)
    spending.add([_answer(0, (50, 50))])
    spending.add([_answer(1, (49, 0))])
    if bounds.tokens:
        spending.check("run")
        spending.add([_answer(2, (1, 0))])
    with pytest.raises(RunError, match="RUN_SPENT") as caught:
        spending.check("run")
    assert says in str(caught.value)
    assert "run the same command again" in caught.value.mend


def test_a_run_stops_at_its_bound_and_goes_on_with_a_higher_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def settings(tokens: int | None) -> RunSettings:
        model = ModelSettings("openai-api/served/served-text", connections=2, bounds=Bounds(tokens=tokens))
        return RunSettings(ChosenPart("fact_or_fair", limit=2), tmp_path / "mine", model)

    with Served.start() as served:
        for name, value in served.environment().items():
            monkeypatch.setenv(name, value)
        with pytest.raises(RunError, match="RUN_SPENT"):
            run(settings(1000))
        asked = served.requests().total
        assert 0 < asked < 56
        with pytest.raises(RunError, match="RUN_SPENT"):
            run(settings(1000))
        assert served.requests().total == asked, "what is spent counts over all starts"
        outcome = run(settings(None))
    (stage,) = outcome.stages
    assert stage.fates == {"answered": 56, "refused": 0, "failed": 0}
