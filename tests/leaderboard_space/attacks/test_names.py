from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Literal

import pytest

from fairspace.leaderboard_space.boards.models import BASELINES, STEREOTYPED, place_of
from fairspace.leaderboard_space.boards.view import Column
from fairspace.leaderboard_space.jobs.child import ChildOutcome
from fairspace.leaderboard_space.jobs.jobs import Attempt, Job
from fairspace.leaderboard_space.logged import LoggedSubmission
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.state import Board, State
from fairspace.submissions.benchmarks.baselines import baseline_meta
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.checking.names import check_names, look_alikes, owner_of, skeleton, taken_names
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.format.faults import Collector
from fairspace.submissions.results.board import published_rows
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Row
from fairspace.submissions.values import measured
from tests.leaderboard_space.factory import add, good_zip, mark, renamed, result, state_of

UNREADABLE = (
    *("GРT-4o", "ОpenAI-1", "GPT\u200b-4o", "GPT-4o\u202e", "a\u3164b", "Qwe\u0578-7B", "x\ufe0f", "𝐆РT"),
    "\u0645\u200c",
)
FOREIGN = (
    *("通义千问-7B", "Сайга-7B", "Modèle café", "Llama-3.2 (8B)", "日本語モデル", "ЯндексGPT 5", "α-model", "o1"),
    "\u0645\u06cc\u200c\u062e",
)


@pytest.mark.parametrize(
    ("model", "codes"),
    [*((model, ["LOOK_ALIKE_NAME"]) for model in UNREADABLE), *((model, []) for model in FOREIGN)],
)
def test_a_name_that_cannot_be_read_as_what_it_is_is_refused_and_other_languages_are_fine(
    model: str, codes: list[str]
) -> None:
    faults = Collector(10)
    meta = baseline_meta("random", "genres", 0, {})
    check_names(meta.model_copy(update={"model": model, "organisation": "Example Lab", "baseline": None}), faults)
    assert [fault.code for fault in faults.all()] == codes
    assert codes or not taken_names(model, "Example Lab")


@pytest.mark.parametrize(
    "model", ["GPT-4o", "gpt 4o", "GPT4O", "ＧＰＴ-４ｏ", "G-P-T 4 0", "openai/gpt-4o", "SDXL ", "JANUS_PRO", "ВаgеI"]
)
def test_a_printed_models_name_is_taken_with_every_decoration(model: str) -> None:
    assert [fault.code for fault in taken_names(model, "Example Lab", ("eve",))] == ["NAME_TAKEN"]


@pytest.mark.parametrize(
    "name",
    [
        *("baseline: random", "BASELINE: x", "Base line – random", "b a s e l i n e", "bаseline：random", "baselíne"),
        *("fairspace", "Fair-Space Inc.", "The fairspace team", "fa1rspace", "faırspace", "ƒ/faírspace", "ｆairspace"),
        *("fairspace/aurora", "acme/baseline-random", "f a i r s p α c e"),
    ],
)
def test_our_names_are_ours_in_every_form(name: str) -> None:
    for faults in (taken_names(name, "Example Lab", ("eve",)), taken_names("mine", name, ("eve", "fa1rspace"))):
        assert {fault.code for fault in faults} == {"NAME_TAKEN"}
        assert all("such rows are ours" in fault.expected for fault in faults)
    assert not taken_names(name, name, ("ada", "fairspace"))


def test_names_that_only_remind_of_ours_are_free() -> None:
    assert not taken_names("Llama baseline", "Space Fair", ("eve",))
    assert not taken_names("acme/fairspace-tuned", "Acme", ("acme",)), "a proved owner names its models"
    assert taken_names("baseline-random/a", "Acme", ("baseline-random",)), "but no account is our baseline"
    assert taken_names("fair-space/a", "Acme", ("fair-space",))


def test_its_owner_may_use_it_and_others_may_name_the_version() -> None:
    assert not taken_names("openai/gpt-4o", "OpenAI", ("ada", "openai"))
    assert [fault.where for fault in taken_names("mine", "Open AI", ("eve",))] == ["submission.json, organisation"]
    assert not taken_names("gpt-4o-2024-08-06", "Example Lab", ("eve",))


def test_a_name_that_looks_like_another_rows_is_refused_and_the_same_name_is_not() -> None:
    assert skeleton("Aurora-1") == skeleton("AURORA l") != skeleton("Aurora-2")
    assert [fault.code for fault in look_alikes("Aurora l", ["Other", "Aurora-1"])] == ["LOOK_ALIKE_NAME"]
    assert not look_alikes("Aurora-1", ["Aurora-1", "Aurora-2", "–"])


def test_a_model_is_its_proved_owners_or_claimed_by_the_account(tmp_path: Path) -> None:
    assert owner_of("Acme/aurora", ("ada", "acme")) == "Acme"
    assert owner_of("aurora", ("aurora",)) == owner_of("Acme/aurora/x", ("acme",)) == owner_of("Acme/a", ()) == ""
    state, _ = log_of(tmp_path, ("Acme/aurora", "ada", "acme"), ("Acme/borealis", "eve", ""))
    rows = {row.model: row for row in state.board("fact_or_fair") if row.result is not None}
    assert rows["Acme/aurora"].owner == "Acme"
    assert (rows["Acme/borealis"].owner, rows["Acme/borealis"].claim) == ("", "claimed by eve")


OWNED, SQUATTED = "Acme/aurora-10", "acme aurora IO"


def row_of(model: str) -> Result:
    return renamed(result("fact_or_fair", "stereotyped", "a model"), model)


def log_of(tmp_path: Path, *rows: tuple[str, str, str]) -> tuple[State, dict[str, str]]:
    """A store with rows of model, user and organisation; the entry of each model."""
    state = state_of(tmp_path / "store")
    return state, {model: add(state, row_of(model), user, organisation) for model, user, organisation in rows}


def ended(state: State, model: str, user: str, organisation: str = "") -> list[str]:
    """Codes of the faults with which a worker ends the job of a scored submission."""
    submission = LoggedSubmission("0" * 20, user, organisation, "0" * 64, 1, "")
    attempt = Attempt(state, Settings(), {}, Job(submission.id, 1), "", Event())
    outcome = ChildOutcome(result=row_of(model))
    return [fault.code for fault in attempt._with_own_names(submission, outcome).faults]


def marked(state: State) -> dict[str, str]:
    rows = [row for row in state.board("fact_or_fair") if row.submitter]
    reasons = {row.model: " ".join(row.kept_out).partition("its name looks like ")[2] for row in rows}
    return {model: reason for model, reason in reasons.items() if reason}


def test_a_proved_owner_is_never_refused_and_who_imitates_its_name_is_marked(tmp_path: Path) -> None:
    state, _ = log_of(tmp_path, (SQUATTED, "eve", ""))
    assert ended(state, OWNED, "ada", "acme") == []
    assert ended(state, OWNED, "bob") == ["LOOK_ALIKE_NAME"], "without proof the first name stands"
    assert not marked(state)
    add(state, row_of(OWNED), "ada", "acme")
    assert marked(state) == {SQUATTED: f"{OWNED}, whose proved owner is on this board"}
    assert ended(state, OWNED, "bob") == [], "the name of the model itself is no imitation"
    assert ended(state, SQUATTED, "mallory") == ["LOOK_ALIKE_NAME"], "and an imitation is none to go by"
    assert ended(state, OWNED.lower(), "mallory") == ["LOOK_ALIKE_NAME"]


def test_a_withdrawn_row_takes_no_name(tmp_path: Path) -> None:
    state, entries = log_of(tmp_path, (SQUATTED, "eve", ""))
    state.storage.append([mark("withdrawn", entries[SQUATTED])])
    state.refresh()
    assert ended(state, OWNED, "bob") == []


def test_what_looks_like_a_row_of_ours_is_marked_unless_a_maintainer_released_it(tmp_path: Path) -> None:
    imitation = "0penai/gpt-9"
    state, entries = log_of(tmp_path, (imitation, "eve", "0penai"), ("Openal gpt 9", "bob", ""))
    assert marked(state) == {"Openal gpt 9": f"{imitation}, whose proved owner is on this board"}
    add(state, row_of("openai/gpt-9"))
    reason = "openai/gpt-9, a row that is verified or ours"
    assert marked(state) == {imitation: reason, "Openal gpt 9": reason}
    state.storage.append([mark("released", entries[imitation])])
    state.refresh()
    assert marked(state) == {"Openal gpt 9": reason}


def test_a_row_of_a_baselines_name_sets_no_scale() -> None:
    """As in a log from before the names were reserved."""

    def named(model: str, value: float, provenance: Literal["baseline", "scored here"], own: str = "ours") -> Row:
        scores = {"TBS": measured("TBS", value)}
        return replace(published_rows("genres")[0], provenance=provenance, model=model, scores=scores, own=own)

    ours = [named(BASELINES[0], 0.0, "baseline"), named(STEREOTYPED, 10.0, "baseline")]
    forged = [named(BASELINES[0], 9.0, "scored here", ""), named(STEREOTYPED, 1.0, "scored here", "")]
    column = Column("TBS", "TBS")
    for rows in (ours, [*forged, *ours], [*ours, *forged]):
        place = place_of(Board(rows), "genres", "zero_centred", rows[0], column)
        assert place is not None
        assert place(5.0) == 0.5
    for rows in (forged, [ours[0], forged[1]], [forged[0], ours[1]]):
        assert place_of(Board(rows), "genres", "zero_centred", rows[0], column) is None


def test_a_row_that_calls_itself_a_baseline_is_a_submission(tmp_path: Path) -> None:
    state, _ = log_of(tmp_path)
    forged = result("fact_or_fair", "stereotyped")
    assert forged.meta["baseline"] == "stereotyped"
    add(state, forged, "eve")
    (row,) = [row for row in state.board("fact_or_fair") if row.result is not None]
    assert (row.provenance, row.row_class) == ("scored here", "submitted")
    assert ended(state, STEREOTYPED, "eve") == ["NAME_TAKEN"]


def test_every_printed_model_is_known() -> None:
    assert all(taken_names(row.model, "Example Lab") for name in NAMES for row in published_rows(name))


def test_the_check_warns_of_a_taken_name_beforehand(tmp_path: Path) -> None:
    report = check_submission(good_zip(tmp_path / "a.zip", "GPT-4o"))
    assert report.ok
    assert [note for note in report.notes if "the public board refuses it" in note and "GPT-4o" in note]
