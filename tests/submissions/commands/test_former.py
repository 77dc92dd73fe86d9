"""Former names of commands do what the new ones do, and say these on standard error; no help names them."""

from collections.abc import Callable

import pytest

from fairspace.submissions.commands.shared.former import RENAMED, current_words

Run = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("words", "today"),
    [
        (["board", "--json"], ["leaderboard", "show", "--json"]),
        (["leaderboard"], ["leaderboard", "serve"]),
        (["leaderboard", "--port", "8000"], ["leaderboard", "serve", "--port", "8000"]),
        (["plan", "--concurrency=3", "--json"], ["run", "--dry-run", "--max-connections=3", "--json"]),
        (["rescore", "r.json", "--standard", "x"], ["score", "r.json", "--standard", "x"]),
        (["validate", "--json"], ["standard", "validate", "--json"]),
    ],
)
def test_a_former_name_is_the_command_of_today(
    words: list[str], today: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert current_words(words) == today
    (line,) = capsys.readouterr().err.splitlines()
    new = " ".join(today[:2] if words[0] != "rescore" else today[:1])
    assert line == f"fairspace: `fairspace {words[0]}` is now `fairspace {new}`."


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--help"],
        ["score", "board"],
        ["leaderboard", "show"],
        ["leaderboard", "serve", "--port", "1"],
        ["leaderboard", "-h"],
        ["standard", "validate"],
        ["run", "--dry-run"],
    ],
)
def test_a_name_of_today_stays_and_says_nothing(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert current_words(words) == words
    assert capsys.readouterr().err == ""


def test_a_former_name_prints_what_the_new_one_prints(run: Run) -> None:
    code, out, err = run("validate", "--json")
    assert (code, out) == run("standard", "validate", "--json")[:2]
    assert err == "fairspace: `fairspace validate` is now `fairspace standard validate`.\n"


def test_help_names_no_former_name(run: Run) -> None:
    _, out, _ = run("--help")
    first = [line.split()[1] for line in out.splitlines() if line.startswith("│ ") and line[2] != " "]
    assert {"run", "score", "leaderboard", "standard", "train-parser", "store", "remake"} <= set(first)
    assert not {*RENAMED} & set(first)
