"""A Space with printed, scored, partial, hostile and withdrawn rows."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from fairspace.leaderboard_space.intake import result_draft
from fairspace.submissions.answers.items import Item
from fairspace.submissions.answers.rows import COUNTED, Example, Summary
from fairspace.submissions.results.result import Result
from tests.leaderboard_space.api.spaces import Opened, opened
from tests.leaderboard_space.factory import mark, result
from tests.leaderboard_space.pages.rows import BENCHMARK, HOSTILE_MODEL, MANY

ABOUT = {"parameters": 7.5, "architecture": "autoregressive", "open_weights": True, "licence": "MIT"}


def _made(model: str, organisation: str, **meta: object) -> Result:
    found = result(BENCHMARK, "stereotyped", "Some model")
    return replace(found, meta={**found.meta, "model": model, "organisation": organisation, **meta})


def _read(model: str, organisation: str) -> Result:
    """A result with examples of readings that would be markup."""
    outcomes = {**dict.fromkeys(COUNTED, 0), "choice": 12_345, "refused": 3}
    hostile = Example("choice", "<b>left", "side </td>", "<script>1</script> ", "left\u202e", " <img src=x>")
    summary = Summary(
        outcomes, {"side </td>": 12_345, "refusal": 3}, (hostile, Example("refused", None, "", "I cannot"))
    )
    item = Item(
        "worst", "vision_gender", "a/<b>/c", "<script>asked</script>", "choice", "<i>left", "rule", "<script>2</script>"
    )
    return replace(
        _made(model, organisation), readings={"vision_gender": summary}, items={"gender_occupation": (item,)}
    )


def _partial(model: str) -> Result:
    """A result with a fifth of the answers to one question missing."""
    found = _made(model, "Gap")
    value = replace(found.values["gender_occupation"], value=0.25, low=0.2, high=0.5, valid=30720)
    return replace(found, values={**found.values, "gender_occupation": value})


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    rows = [
        result(BENCHMARK, "constant"),
        _made("Aurora", "Acme", **ABOUT),
        _made("Borealis", "Acme", **{**ABOUT, "parameters": 70, "open_weights": False, "licence": "Apache-2.0"}),
        _read(HOSTILE_MODEL, "Evil\u202e <b>Corp</b>"),
        _made("Gone", "Acme"),
        _partial("Partial"),
    ]
    with opened(tmp_path_factory.mktemp("site"), tuple(rows)) as space:
        state = space.space.state
        drafts = [result_draft(_made(f"many-{i:03}", "Many"), own=True)[0] for i in range(MANY)]
        gone = next(row.entry for row in state.entries() if row.result.meta["model"] == "Gone")
        state.storage.append([*drafts, mark("withdrawn", gone, "the <i>organisation</i> asked for it")])
        state.refresh()
        yield space
