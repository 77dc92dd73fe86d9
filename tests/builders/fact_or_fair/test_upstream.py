import ast
import json
import os
import shutil
from pathlib import Path

import pytest

from fairspace.builders.errors import BuildError
from fairspace.builders.fact_or_fair import plan, upstream
from fairspace.builders.fact_or_fair.statistics import STATISTICS
from fairspace.submissions.benchmarks.registry import benchmark


@pytest.fixture
def clone() -> Path:
    setting = "FAIRSPACE_FACT_OR_FAIR_CLONE"
    if setting not in os.environ:
        pytest.skip(f"{setting} names no clone of {upstream.REPOSITORY}")
    return Path(os.environ[setting])


def f_string(program: Path, name: str, last: bool = False) -> ast.Expression:
    """The expression that the authors' program assigns to a name first, or last in the order of lines."""
    nodes = [node for node in ast.walk(ast.parse(program.read_text())) if isinstance(node, ast.Assign | ast.AugAssign)]
    named = [node for node in nodes if ast.unparse(node).startswith(f"{name} ")]
    return ast.Expression(sorted(named, key=lambda node: node.lineno)[-1 if last else 0].value)


@pytest.mark.slow
def test_every_prompt_is_what_the_authors_programs_compose(clone: Path) -> None:
    """Their own f-strings, with the values of our rows, give our prompts to the letter."""
    folder = clone / "large_language_model" / "subjective_test"
    compose = compile(f_string(folder / "subj_test.py", "prompt"), "subj_test", "eval")
    texts = {file.stem: json.loads(file.read_text()) for file in (folder / "prompts").glob("*.json")}
    scenarios = set()
    for row in upstream.items("llm_subjective", str(clone)).to_pylist()[::7]:
        level = {"highest": "high", "lowest": "low"}[row["level"]]
        context = {
            "representativeness": "representativeness_bias",
            "attribution": f"attribution_error_{level}",
            "ingroup": "group_bias",
        }
        before = texts[f"prompts_{context[row['context']]}"][row["statistic"]] if row["context"] in context else ""
        people = [
            f"{p['name']}, a {p['age']}-year-old {p['gender']} individual, of {p['race']} descent."
            for p in row["profiles"]
        ]
        asked = texts[f"prompts_{level}"][row["statistic"]][row["scenario"]]
        said = {"race": row["context_race"], "gender": row["context_gender"]}
        names = {"background_knowledge": before, "individual_prompt": asked, "options": people, "back_random": said}
        assert row["prompt"] == eval(compose, names)
        scenarios.add(asked)
    assert len(scenarios) > 100
    program = clone / "large_language_model" / "objective_test" / "obj_test.py"
    compose = compile(f_string(program, "user_content"), "obj_test", "eval")
    defs = ast.literal_eval(f_string(clone / "data" / "classes.py", "defs").body)
    for row in upstream.items("llm_objective", str(clone)).to_pylist():
        head = eval(compose, {"category": row["statistic"], "defs": defs, "statistic": row["level"]})
        shown = "".join(
            f" {letter}. {each.lower() if row['attribute'] == 'gender' else each}"
            for letter, each in zip("ABCD", row["options"], strict=False)
        )
        assert row["prompt"].startswith(f"{head}{shown}. Please answer")
        assert row["prompt"].endswith(ast.literal_eval(f_string(program, "user_content", last=True).body))


def test_all_that_the_revision_asks_comes_from_the_clone(clone: Path, tmp_path: Path) -> None:
    tables = benchmark("fact_or_fair").items("upstream", data=str(clone))
    rows = {task: table.num_rows for task, table in tables.items()}
    assert rows == {"llm_objective": 198, "llm_subjective": 45_600, "t2i_objective": 38, "t2i_subjective_paper": 38}
    assert len(set(tables["t2i_subjective_paper"]["prompt"].to_pylist())) == 38
    for name in upstream.FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(clone / name, tmp_path / name)
    changed = tmp_path / "data" / "classes.py"
    changed.write_bytes(changed.read_bytes().replace(b"\n", b"\r\n"))  # as a clone on Windows has it
    assert upstream.items("t2i_objective", str(tmp_path)).equals(tables["t2i_objective"])
    changed.write_text(changed.read_text() + "\n")
    with pytest.raises(BuildError, match=r"SOURCE_LAYOUT at .*classes\.py.*check out 945ec6b in it"):
        upstream.items("t2i_objective", f"{tmp_path}/.")


def test_without_the_clone_nothing_of_the_authors_is_here(tmp_path: Path) -> None:
    bench = benchmark("fact_or_fair")
    assert bench.items("upstream") == {}
    for task in plan.TASKS:
        assert "prompt" not in plan.items(task, "upstream").column_names
    with pytest.raises(
        BuildError, match=r"SOURCE_MISSING at --data/data/classes\.py.*git clone .*uclanlp/fact-or-fair"
    ):
        bench.task("llm_objective").asked("upstream")


def test_the_authors_names_and_ages_meet_the_groups_drawn_for_v2() -> None:
    theirs, ours = plan.draws("upstream"), plan.draws("v2")
    assert (theirs.gender == ours.gender).all()
    assert (theirs.race == ours.race).all()
    assert {plan.EVERY_NAME[name] for name in theirs.name.ravel()} == set(plan.UPSTREAM_NAMES)
    assert set(theirs.age.ravel().tolist()) == set(range(15, 96, 10))
    differ = theirs.cell[(theirs.context["race"] != ours.context["race"])]
    named = {(STATISTICS[s].slug, level, plan.CONTEXTS[c]) for s, level, _, c, _ in differ.tolist()}
    assert named == {
        (slug, ("highest", "lowest").index(level), "representativeness") for slug, level in plan.UPSTREAM_STATED
    }
