from __future__ import annotations

from pathlib import Path

import pytest

from fairspace.leaderboard_space.intake import result_draft
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.benchmarks.baselines import baseline_meta
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.checking.names import check_names, look_alikes, owner_of, skeleton, taken_names
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.format.collector import Collector
from fairspace.submissions.format.schema import SubmissionMeta
from fairspace.submissions.results.board import published_rows
from tests.leaderboard_space.factory import good_zip, renamed, result


def named(model: str, organisation: str = "Example Lab") -> SubmissionMeta:
    meta = baseline_meta("random", "genres", 0, {})
    return meta.model_copy(update={"model": model, "organisation": organisation, "baseline": None})


@pytest.mark.parametrize(
    "model",
    [
        "GРT-4o",
        "ОpenAI-1",
        "GPT\u200b-4o",
        "GPT-4o\u202e",
        "a\u3164b",
        "Qwe\u0578-7B",
        "x\ufe0f",
        "𝐆РT",
        "\u0645\u200c",
    ],
)
def test_a_name_that_cannot_be_read_as_what_it_is_is_refused(model: str) -> None:
    faults = Collector(10)
    check_names(named(model), faults)
    assert [fault.code for fault in faults.all()] == ["LOOK_ALIKE_NAME"]


@pytest.mark.parametrize(
    "model",
    [
        "通义千问-7B",
        "Сайга-7B",
        "Modèle café",
        "Llama-3.2 (8B)",
        "日本語モデル",
        "ЯндексGPT 5",
        "α-model",
        "o1",
        "\u0645\u06cc\u200c\u062e",
    ],
)
def test_names_of_other_languages_are_fine(model: str) -> None:
    faults = Collector(10)
    check_names(named(model), faults)
    assert not faults.all()
    assert not taken_names(model, "Example Lab")


@pytest.mark.parametrize(
    "model", ["GPT-4o", "gpt 4o", "GPT4O", "ＧＰＴ-４ｏ", "G-P-T 4 0", "openai/gpt-4o", "SDXL ", "JANUS_PRO", "ВаgеI"]
)
def test_a_printed_models_name_is_taken_with_every_decoration(model: str) -> None:
    assert [fault.code for fault in taken_names(model, "Example Lab", ("eve",))] == ["NAME_TAKEN"]


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
    state = State(LocalStorage(tmp_path / "store"))
    scored = result("fact_or_fair", "stereotyped", "Acme/aurora")
    for user, organisation, model in (("ada", "acme", "Acme/aurora"), ("eve", "", "Acme/borealis")):
        draft, files = result_draft(renamed(scored, model), user, organisation)
        state.storage.append([draft], files)
    state.refresh()
    rows = {row.model: row for row in state.board("fact_or_fair") if row.result is not None}
    assert rows["Acme/aurora"].owner == "Acme"
    assert (rows["Acme/borealis"].owner, rows["Acme/borealis"].claim) == ("", "claimed by eve")


def test_every_printed_model_is_known() -> None:
    assert all(taken_names(row.model, "Example Lab") for name in NAMES for row in published_rows(name))


def test_the_check_warns_of_a_taken_name_beforehand(tmp_path: Path) -> None:
    report = check_submission(good_zip(tmp_path / "a.zip", "GPT-4o"))
    assert report.ok
    assert [note for note in report.notes if "the public board refuses it" in note and "GPT-4o" in note]
