import json
from pathlib import Path
from typing import Any

import pytest

from fairspace.submissions.errors import RunError
from fairspace.submissions.running.asking.journal import JournalEntry
from fairspace.submissions.running.asking.prices import Bounds, Price, Spending, read_prices

GPT = {"input": 2.5, "output": 10, "input_cache_write": 2.5, "input_cache_read": 1.25}


def written(folder: Path, data: Any) -> Path:
    file = folder / "prices.json"
    file.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return file


def test_prices_of_tokens_and_of_images(tmp_path: Path) -> None:
    prices = read_prices(written(tmp_path, {"openai/a": GPT, "endpoint:b": {"image": 0.04, "currency": "EUR"}}))
    assert prices.of("openai/a", "input") == Price(2.5, 10.0, None, "USD")
    assert prices.of("endpoint:b", "image") == Price(None, None, 0.04, "EUR")


def test_the_same_file_serves_inspect(tmp_path: Path) -> None:
    model = pytest.importorskip("inspect_ai.model")
    from inspect_ai._util.config import resolve_args

    file = written(tmp_path, {"openai/a": GPT | {"image": 0.04, "currency": "USD"}})
    (cost,) = resolve_args(str(file)).values()
    assert model.ModelCost(**cost).output == read_prices(file).of("openai/a", "input").output


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("{", "JSON"),
        ("{}", "no model"),
        ("[]", "no model"),
        ('{"a": {"input": 1, "output": 2}, "a": {"image": 1}}', "twice"),
        ({"a": 3}, "object"),
        ({"a": {}}, "no price"),
        ({"a": {"currency": "USD"}}, "no price"),
        ({"a": {"input": 1}}, "one of input and output"),
        ({"a": {"input": 1, "ouput": 2}}, "did you mean"),
        ({"a": {"input": "1", "output": 2}}, "input is '1'"),
        ({"a": {"input": -1, "output": 2}}, "input is -1"),
        ({"a": {"input": True, "output": 2}}, "input is True"),
        ('{"a": {"input": NaN, "output": 2}}', "NaN"),
        ('{"a": {"input": 1e999, "output": 2}}', "input is inf"),
        ({"a": {"image": 1, "currency": "euro"}}, "currency"),
    ],
)
def test_what_is_wrong_is_named_with_how_a_file_looks(data: Any, says: str, tmp_path: Path) -> None:
    file = written(tmp_path, data)
    with pytest.raises(RunError, match=f'(?i)PRICES_INVALID at {file}(?=.*{says}).*"input": 2.5'):
        read_prices(file)


def test_a_model_that_the_file_does_not_name(tmp_path: Path) -> None:
    prices = read_prices(written(tmp_path, {"openai/gpt-4o": GPT}))
    with pytest.raises(RunError, match=r"PRICES_INVALID.*did you mean 'openai/gpt-4o'"):
        prices.of("openai/gpt4o", "input")
    with pytest.raises(RunError, match="no price of made images"):
        prices.of("openai/gpt-4o", "image")
    with pytest.raises(RunError, match="cannot be read"):
        read_prices(tmp_path / "none.json")


def answer(number: int, tokens: tuple[int, int]) -> JournalEntry:
    return JournalEntry("t", f"i{number}", 0, "answered", "x", input_tokens=tokens[0], output_tokens=tokens[1])


def test_cost_is_tokens_times_price_of_a_million() -> None:
    spending = Spending(Bounds(price=Price(2.0, 10.0, None)))
    spending.add([answer(0, (400_000, 50_000)), answer(1, (100_000, 50_000))])
    assert spending.cost == pytest.approx(0.5 * 2 + 0.1 * 10)


def test_no_bound_is_never_reached() -> None:
    spending = Spending(Bounds())
    spending.add([answer(0, (10**9, 10**9))])
    spending.check("run")
    assert spending.cost is None


@pytest.mark.parametrize(
    ("bounds", "says"),
    [
        (Bounds(tokens=150), "150 tokens are spent. Expected: less than --token-limit 150"),
        (Bounds(cost=0.00039, price=Price(1, 6, None, "EUR")), "0.00 EUR are spent. Expected: less than --cost-limit"),
    ],
)
def test_a_bound_that_is_reached_stops_the_run_and_says_how_to_go_on(bounds: Bounds, says: str) -> None:
    spending = Spending(bounds)
    spending.add([answer(0, (50, 50))])
    spending.add([answer(1, (49, 0))])
    if bounds.tokens:
        spending.check("run")
        spending.add([answer(2, (1, 0))])
    with pytest.raises(RunError, match=f"RUN_SPENT.*{says}.*run the same command again"):
        spending.check("run")
