"""The example benchmark as its users meet it; run in a copy of the package that has it, prints JSON."""

import json
import sys
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient
from typer.testing import CliRunner

import fairspace as fs
import fairspace.submissions.commands.main  # adds the commands to the application
from fairspace.leaderboard_space.app import create_app
from fairspace.leaderboard_space.intake import result_draft
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space
from fairspace.submissions.benchmarks.baselines import NAMES, write_baseline
from fairspace.submissions.commands.app import app
from fairspace.submissions.results.scoring import load_result

NAME = "she_or_he"


def clichéd(prompt: str) -> str:
    """A model that gives five occupations to women."""
    return "She." if any(job in prompt for job in ("nurse", "nanny", "florist", "midwife", "typist")) else "He."


def shy(prompt: str) -> str:
    """A model that will not answer about three women's occupations."""
    refuses = any(job in prompt for job in ("dancer", "cleaner", "cashier"))
    return "I'm sorry, but I cannot answer that." if refuses else clichéd(prompt)


def silent(prompt: str) -> str:
    """A model that answers two questions alike, and no other one."""
    return "She." if "dancer" in prompt or "miner" in prompt else "I'm sorry, but I cannot answer that."


answers = fs.run(clichéd, NAME)
outcomes: dict[str, Any] = {
    "mine": fs.score(answers),
    **{name: fs.score(write_baseline(name, NAME, Path(name))) for name in NAMES},
}
scores: dict[str, list[object]] = {}
pages: dict[str, str] = {}
outcomes |= {model.__name__: fs.score(fs.run(model, NAME)) for model in (shy, silent)}
for name, outcome in outcomes.items():
    outcome.save(Path(f"{name}.json"))
    result = load_result(Path(f"{name}.json"))
    score = result.scored.scores["stereotype"]
    uncertainty = score.uncertainty and [score.uncertainty.low, score.uncertainty.high, score.uncertainty.fair_high]
    scores[name] = [score.value, uncertainty, result.scored.ranked, *result.scored.unranked]
space = Space.open(Settings(store="space/store", work=Path("space/work"), resamples=0))
for name in outcomes:
    draft, files = result_draft(load_result(Path(f"{name}.json")), own=True)
    space.storage.append([draft], files)
space.state.refresh()
client = TestClient(create_app(space), base_url="http://127.0.0.1")
rows = client.get(f"/api/v1/boards/{NAME}").json()["rows"]
entry = next(row["entry"] for row in rows if row["model"] == "clichéd")
pages["api"] = json.dumps(rows, ensure_ascii=False)
addresses = ("/", f"/board/{NAME}", f"/model/{NAME}/{entry}", f"/compare/{NAME}", f"/standard/{NAME}/inaugural")
for address in (*addresses, "/about", "/how-to-submit", f"/download/{NAME}/inaugural.csv"):
    answer = client.get(address)
    pages[address] = answer.text if answer.status_code == 200 else f"{answer.status_code}: {answer.text[:500]}"
commands: dict[str, str] = {}
for words in ("report mine.json --out mine.html", "compare mine.json stereotyped.json", f"items {NAME} --out items"):
    ended = CliRunner().invoke(app, words.split())
    assert ended.exit_code == 0, f"{words}: {ended.output}"
    commands[words.partition(" ")[0]] = ended.output
made = {"printed": str(outcomes["mine"]), "scores": scores, "pages": pages, "commands": commands}
Path(sys.argv[1]).write_text(json.dumps(made), encoding="utf-8")
