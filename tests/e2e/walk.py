"""A real model's way through the product: asked, checked, scored, reported, handed in, seen on the board, published."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from playwright.sync_api import Browser, ViewportSize

from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.web.tokens import Tokens
from tests.e2e.budget import Budget, Step
from tests.e2e.environment import PACKAGE, CommandError, Environment
from tests.e2e.killed import KILLS, STORIES, kill_on_the_way, requests
from tests.hub.running import OWNER, STRANGER, Hub, online
from tests.hub.seeding import seed
from tests.leaderboard_space.attacks.running import SIGNING, Running, running
from tests.leaderboard_space.chromium import chromium
from tests.leaderboard_space.walking import DESKTOP, Walk, walking
from tests.scored_baselines import scored_baseline
from tests.submissions.running.run_factory import assert_same

MODEL = f"local/{PACKAGE}"
NAME = "SmolLM2-135M-Instruct"
REPOSITORY = "owner/ranked"
PAGE: ViewportSize = {"width": 1240, "height": 1754}
"""Of A4 at 150 dots an inch."""
SIGNS_IN_AS = "walker"
READ_PROPOSAL = f"""
from huggingface_hub import HfApi
api = HfApi()
[proposal] = api.get_repo_discussions("{REPOSITORY}")
path = api.hf_hub_download("{REPOSITORY}", ".eval_results/fact_or_fair.yaml", revision=proposal.git_reference)
print(open(path, encoding="utf-8").read())
"""


@dataclass(frozen=True)
class Slice:
    """A part of a benchmark that the model is asked.

    Args:
        benchmark: its name.
        options: of `fairspace run`.
        answers: that the submission has at least.
        judge: options of `fairspace judge`; None where nothing is judged.
    """

    benchmark: str
    options: tuple[str, ...]
    answers: int
    judge: tuple[str, ...] | None = None


@dataclass
class Journey:
    """One walk.

    Args:
        at: where commands run.
        folder: what they write.
        budget: of all steps.
    """

    at: Environment
    folder: Path
    budget: Budget

    def command(self, *words: str, expect: int = 0, variables: Mapping[str, str] | None = None) -> str:
        """What a command prints."""
        return self.at.fairspace(self.folder, *words, expect=expect, variables=variables)

    def ask(self, part: Slice) -> str:
        """Ask, judge, check, score and report a slice; the submission's name, beside `NAME.json` and `NAME.html`."""
        name = part.benchmark
        with self.budget.step(f"{name}: run") as step:
            printed = self.command("run", *self._options(part), "--out", name)
            assert "That took " in printed, "the run says how it went beside its plan"
            assert self._read_course(name, step) >= part.answers
        if part.judge is not None:
            with self.budget.step(f"{name}: judge") as step:
                self._judge(name, part.judge, step)
        with self.budget.step(f"{name}: check"):
            assert "no faults" in self.command("check", name)
        with self.budget.step(f"{name}: score"):
            self.command("score", name, "--out", f"{name}.json")
        result = self.result(name)
        assert result["ranked"] is None, "a part of a benchmark has no rank"
        with self.budget.step(f"{name}: report"):
            self.command("report", f"{name}.json", "--out", f"{name}.html")
        assert NAME in (self.folder / f"{name}.html").read_text(encoding="utf-8")
        return name

    def kill(self, part: Slice, drawn: random.Random) -> None:
        """Ask a slice once more, killed on the way: the submission has the bytes of the one that was asked at once."""
        name, killed = part.benchmark, f"{part.benchmark}-killed"
        with self.budget.step(f"{name}: killed {KILLS} times") as step:
            words = ("run", *self._options(part), "--out", killed)
            total = requests(self.folder / name)
            journal = f"{killed}.run/journal.sqlite"
            kept = kill_on_the_way(self.at, self.folder, words, journal, total, KILLS, drawn)
            self.command(*words)
            self._read_course(killed, step)
            assert_same(self.folder / name, self.folder / killed)
            step.name += f" at {kept} of {total}"

    def _options(self, part: Slice) -> tuple[str, ...]:
        return ("--benchmark", part.benchmark, *part.options, "--model", MODEL, "--about", f"model={NAME}")

    def _judge(self, name: str, options: tuple[str, ...], step: Step) -> None:
        """Let the model judge its narratives; where it wrote none that can be judged, a few of a baseline."""
        try:
            printed = self.command("judge", name, "--model", MODEL, *options)
        except CommandError as error:
            if "JUDGE_NOTHING" not in str(error):
                raise
            step.name += " of a baseline's"
            name = "stories"
            self.command("baseline", STORIES, "--benchmark", "genres", "--out", name)
            printed = self.command("judge", name, "--model", MODEL, "--limit", "4", *options)
        assert "That took " in printed
        self._read_course(name, step)

    def result(self, name: str) -> dict[str, Any]:
        """A result file."""
        found: dict[str, Any] = json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
        return found

    def _read_course(self, name: str, step: Step) -> int:
        """Put tokens and readable shares of a manifest's newest stage into the step; its answers."""
        manifest = json.loads((self.folder / name / "manifest.json").read_text(encoding="utf-8"))
        stage = manifest["stages"][-1]
        course = stage["course"]
        step.tokens = course["output_tokens"]
        step.readable = {
            task.removeprefix("readable_"): share for task, share in course.items() if task.startswith("readable_")
        }
        return int(stage["requests"])


def show_on_board(journey: Journey, names: list[str]) -> None:
    """Hand the submissions in to a Space of their own, and look at their rows in Chromium."""
    with (
        journey.budget.step("Space: submit, score, rows in Chromium"),
        running(journey.folder / "space", workers="1", resamples="100") as space,
        chromium() as browser,
        walking(browser, space, DESKTOP, "light") as walk,
    ):
        for name in names:
            state = _submit(journey, space, name)
            _see_row(walk, state, journey.result(name))
            _picture(browser, journey.folder / f"{name}.html")


def _picture(browser: Browser, report: Path) -> None:
    """The first page of a report, as `NAME.png` beside it."""
    page = browser.new_page(viewport=PAGE)
    page.goto(report.as_uri())
    page.screenshot(path=report.with_suffix(".png"))
    page.close()


def _submit(journey: Journey, space: Running, name: str) -> dict[str, Any]:
    """Hand a submission in and wait; where it stands then."""
    token = Tokens(SIGNING).make(User(SIGNS_IN_AS, ()))
    words = ("submit", name, "--space", space.address, "--wait", "--json")
    state: dict[str, Any] = json.loads(journey.command(*words, variables={"FAIRSPACE_TOKEN": token}))
    assert state["outcome"] == "scored"
    return state


def _see_row(walk: Walk, state: Mapping[str, Any], result: Mapping[str, Any]) -> None:
    """The row on its board and on its page, with the scores that were computed before it was handed in."""
    assert _states(state["scores"].values()) == _states(result["scores"])
    walk.to(f"/?benchmark={result['benchmark']}&q={NAME}")
    assert NAME in walk.column("Model")
    walk.to(state["row"])
    shown = walk.page.locator("main").inner_text()
    assert NAME in shown
    for reason in result["unranked"]:
        assert reason.split(":")[0].lower() in shown.lower(), reason


def _states(scores: Iterable[Mapping[str, Any]]) -> dict[str, tuple[Any, ...]]:
    """Name -> what two computations of a score agree in: state, value and counts."""
    return {score["name"]: tuple(score.get(key) for key in ("state", "value", "expected", "valid")) for score in scores}


def publish(journey: Journey, unranked: str) -> None:
    """Propose results to a Hub: what has no rank is refused, and what has one becomes an entry of `.eval_results`."""
    with journey.budget.step("Hub: publish .eval_results"), Hub.start(journey.folder / "hub") as hub:
        home = journey.folder / "home"
        with online():
            seed(hub.address, REPOSITORY)
        paths = journey.at.all_variables()["PYTHONPATH"]
        variables = hub.environment(home, STRANGER, HF_HUB_OFFLINE="0", PYTHONPATH=paths)
        words = ("publish", "--model", REPOSITORY, "--yes")
        journey.command(*words, f"{unranked}.json", expect=1, variables=variables)
        ranked = scored_baseline("stereotyped", "fact_or_fair")
        meta = {name: value for name, value in ranked.meta.items() if name != "baseline"} | {"model": "Ranked"}
        data = json.loads(ranked.dumps()) | {"meta": meta}
        (journey.folder / "ranked.json").write_text(json.dumps(data), encoding="utf-8")
        assert "Opened a pull request" in journey.command(*words, "ranked.json", variables=variables)
        entries = yaml.safe_load(hub.run(READ_PROPOSAL, home, OWNER))
    assert {entry["dataset"]["task_id"] for entry in entries} >= {"average_llm", "llm_fairness", "llm_factuality"}
