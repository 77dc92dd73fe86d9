"""Plans of every revision are the same for ever, and revisions that are none are refused."""

import hashlib
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from fairspace.builders.errors import BuildError
from fairspace.builders.fact_or_fair import plan as fof
from fairspace.builders.genres import plan as genres
from fairspace.builders.iris_steer_60 import plan as steer
from fairspace.builders.stereotypical_bias import plan as bias

FROZEN: dict[str, str] = json.loads((Path(__file__).parent / "frozen.json").read_text())
"""Plan -> sha256 of its content."""


def rows_of_v1(task: str) -> str:
    """The items as JSON; of the many subjective ones the prompts."""
    items = fof.items(task, "v1")
    if task == "llm_subjective":
        return "\n".join(items["prompt"].to_pylist())
    return json.dumps(items.to_pylist(), sort_keys=True)


def ids_of_v1(task: str) -> str:
    return "\n".join(fof.ids(task, "v1").to_pylist())


def drawn_profiles() -> bytes:
    drawn = fof.draws()
    columns = (drawn.name, drawn.age, drawn.gender, drawn.race, drawn.context["gender"], drawn.context["race"])
    return b"".join(column.tobytes() for column in columns)


def pairs_of_iris() -> bytes:
    plan = steer.pairs()
    columns = (plan.occupation, plan.combination, plan.groups, plan.labels)
    return b"".join(column.astype("<i8").tobytes() for column in columns)


def questions(revision: str) -> str:
    tables = [bias.items(task, revision).slice(0, 3000).to_pylist() for task in bias.TASKS]
    return "\n".join("|".join(map(str, row.values())) for table in tables for row in table)


TASKS = ("llm_objective", "llm_subjective", "t2i_objective", "t2i_subjective")
CONTENTS: dict[str, Callable[[], str | bytes]] = {
    **{f"ids of {task}, v1": partial(ids_of_v1, task) for task in TASKS},
    **{f"rows of {task}, v1": partial(rows_of_v1, task) for task in TASKS},
    "orders of FACT-OR-FAIR": lambda: json.dumps(fof.orders()),
    "profiles of FACT-OR-FAIR": drawn_profiles,
    "names of GENRES": lambda: "\n".join(f"{pair.id} {'|'.join(pair.names)}" for pair in genres.pair_list()),
    "prompts of GENRES, v1": lambda: "\n".join(genres.pairs("v1")["text_prompt"].to_pylist()),
    "prompts of GENRES about one": lambda: "\n".join(
        f"{row['id']} {row['prompt']}" for row in genres.single_items().to_pylist()
    ),
    "pairs of IRIS": pairs_of_iris,
    **{f"questions of stereotypical bias, {revision}": partial(questions, revision) for revision in ("v1", "v2")},
}


@pytest.mark.parametrize("name", CONTENTS)
def test_a_plan_is_the_same_for_ever(name: str) -> None:
    content = CONTENTS[name]()
    assert hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest() == FROZEN[name]


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: fof.ids("llm_objective", "v9"), "dataset fact_or_fair: revision 'v9'"),
        (lambda: genres.ids("v9"), "one of v2, v2-core, v1, v1-core, upstream"),
        (lambda: genres.items("upstream"), r"one of v2, v2-core, v1, v1-core\. "),
        (lambda: genres.single_items("v9"), "v9"),
        (lambda: bias.ids("vision_race", "v9"), r"revision 'v9'\. Expected: one of v2, v1"),
    ],
)
def test_an_unknown_revision_is_refused(ask: Callable[[], object], said: str) -> None:
    with pytest.raises(BuildError, match=f"REVISION_UNKNOWN.*{said}"):
        ask()
