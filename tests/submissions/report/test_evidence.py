import hashlib
import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.report.contents import make_report, to_html, to_markdown
from fairspace.submissions.report.evidence import (
    TEMPLATE,
    TEXTS,
    Statement,
    evidence_page,
    read_statement,
    thresholds_digest,
)
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import load_result
from tests.leaderboard_space.chromium import chromium
from tests.scored_baselines import scored_baseline
from tests.submissions.conftest import Run
from tests.submissions.results.test_tiers import lacking, result, waves

SHIPPED = Path(__file__).parents[3] / "submissions" / "results" / "shipped" / "fact_or_fair_core_smollm2_135m.json"
EXAMPLES = TEMPLATE.partition("For example")[2].partition("\n")[2].replace("# ", "")
PARTS: tuple[str, ...] = ("system", "identity", "how", "thresholds", "groups", "", "scope", "errata", "map", "gaps")
PARTS = (*PARTS, "form", "hashes")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    file = tmp_path / "result.json"
    file.write_text(result("model", 0.3, waves(0.01, 3)).dumps(), encoding="utf-8")
    return file


def verdicts(tested: Result, **thresholds: float | dict[str, float]) -> list[str]:
    statement = Statement.model_validate({"thresholds": {tested.benchmark: thresholds}})
    table = evidence_page(make_report([tested]), statement).table("thresholds")
    assert table is not None
    return [row[-1] for row in table.rows if row[0] in thresholds]


def test_verdicts_are_the_gates_and_nothing_unknown_is_within() -> None:
    tested = result("model", 0.3, waves(0.01, 3))
    total = tested.scored.ranking
    for given, verdict in (
        (0.2, "shown to be beyond"), (0.4, "shown to be within"), (0.3, "cannot be told"),
        ({"least": 0.2}, "shown to be within"), ({"least": 0.4}, "shown to be beyond"),
        ({"most": 0.301}, "cannot be told"),
    ):  # fmt: skip
        assert verdicts(tested, **{total: given}) == [verdict]
    assert verdicts(tested, **{total: {"least": 0.2, "most": 0.25}}) == ["shown to be within", "shown to be beyond"]
    assert verdicts(result("holes", 0.1, waves(0.01, 5), missing=30), **{total: 0.2}) == ["cannot be told"]
    assert verdicts(lacking(tested, total), **{total: 0.4}) == ["undefined"]


def test_a_value_without_draws_is_held_against_a_limit_by_its_error() -> None:
    shipped, name = load_result(SHIPPED), "factuality_llm_base_gender"
    tested = replace(shipped, scored=replace(shipped.scored, unranked=()))
    assert tested.draws is None or name not in tested.draws.names
    about = tested.values[name].uncertainty
    assert about is not None
    for most, verdict in (
        (about.high + about.error, "within"), (about.low - about.error, "beyond"),
        (about.high - about.error / 9, "told"),
    ):  # fmt: skip
        assert verdicts(tested, **{name: {"most": most}})[0].endswith(verdict)


def test_a_model_below_a_floor_is_not_shown_to_be_within() -> None:
    below = load_result(SHIPPED)
    assert "It answered the same letter every time: its fairness score says nothing." in below.scored.unranked
    (verdict,) = verdicts(below, llm_fairness=0.5)
    assert verdict.startswith("within, not counted: too few facts right")
    assert verdict.endswith("it answered the same letter every time")
    assert verdicts(replace(below, scored=replace(below.scored, unranked=())), llm_fairness=0.5) == [
        "shown to be within"
    ]


def test_the_pages_thresholds_are_read(tmp_path: Path) -> None:
    page = Path(__file__).parents[3] / "submissions" / "RUNNING.md"
    (example,) = re.findall(r"^```toml\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    file = tmp_path / "mine.toml"
    file.write_text(example, encoding="utf-8")
    statement = read_statement(file)
    assert {*statement.thresholds["fact_or_fair"]} == {"llm_fairness", "share_llm_subjective_male"}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) for name in NAMES])
def test_each_benchmark_has_every_part_and_the_template_s_examples_hold(name: str, tmp_path: Path) -> None:
    file = tmp_path / "filled.toml"
    file.write_text(EXAMPLES, encoding="utf-8")
    statement = read_statement(file)
    assert statement.thresholds.keys() == set(NAMES)
    tested = scored_baseline("stereotyped", name)
    report = evidence_page(make_report([tested]), statement)
    assert tuple(dict.fromkeys(table.name for table in report.tables)) == PARTS
    assert all(table.rows for table in report.tables)
    for text in (to_html(report), to_markdown(report)):
        assert not re.search("complian|conform", text, re.IGNORECASE)
        assert text.count("not stated") >= len(tomllib.loads(TEMPLATE))
        assert TEXTS["map"][1][0] in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('intended = ""', "intended: unknown key (did you mean 'intended_use'?). Known: system"),
        ("system = 3", "system: '3'. Expected a text"),
        ("[thresholds.iris]\nRD_gender = 'low'", "thresholds.iris.RD_gender.distance: 'low'. Expected a number"),
        ("[thresholds.iris]\nRD_gender = -1", "'-1'. Expected a number"),
        ("[thresholds.iris]\nRD_gender = {at_most = 1}", "RD_gender.at_most: unknown key (did you mean 'most'?)"),
        ("[thresholds.genre]\nM1 = 1", "thresholds.genre: unknown benchmark (did you mean 'genres'?)"),
        ("[thresholds.stereotypical_bias]\ntotl = 1", "has no value 'totl' (did you mean 'total'?)"),
        ("system", "Expected TOML"),
    ],
)
def test_faults_of_the_file_are_named(text: str, said: str, saved: Path, run: Run) -> None:
    saved.with_name("mine.toml").write_text(text, encoding="utf-8")
    assert said in run.refused(2, "report", saved, "--evidence", saved.with_name("mine.toml"))


def test_a_template_has_an_option_and_the_page_is_for_one_result_and_a_file_that_is_there(
    saved: Path, tmp_path: Path, run: Run
) -> None:
    page, new = tmp_path / "page.html", tmp_path / "new.toml"
    error = run.refused(2, "report", saved, "--evidence", new, "--out", page)
    assert "--evidence-template FILE.toml writes" in error
    assert {*tmp_path.iterdir()} == {saved}
    run.fine("report", "--evidence-template", new)
    assert new.read_text(encoding="utf-8") == TEMPLATE
    run.refused(2, "report", "--evidence-template", new)
    run.fine("report", saved, "--evidence", new, "--out", page)
    assert "Evidence: model on" in page.read_text(encoding="utf-8")
    assert "expected one RESULT" in run.refused(2, "report", saved, saved, "--evidence", new)


def test_the_twin_in_json_has_the_page_s_tables_and_its_hash_stands_on_the_page(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[thresholds.fact_or_fair]\nllm_fairness = 0.05\n")
    places = [str(tmp_path / f"page.{kind}") for kind in ("json", "html", "md")]
    words = ("--evidence", str(tmp_path / "mine.toml"), *(word for place in places for word in ("--out", place)))
    run.fine("report", SHIPPED, *words)
    run.refused(2, "report", SHIPPED, "--out", places[0])
    twin, *pages = (Path(place).read_text(encoding="utf-8") for place in places)
    assert all(hashlib.sha256(twin.encode()).hexdigest() in page for page in pages)
    tables = {table["name"]: table for table in json.loads(twin)["tables"]}
    assert {*PARTS} - {*tables} == {"hashes"}
    assert "not shown to be written before the result" in tables["thresholds"]["note"]
    assert ["Model name", "SmolLM2-135M-Instruct"] in tables["form"]["rows"]
    assert len(tables["gaps"]["rows"]) == len(TEXTS["gaps"]) - 1


def test_thresholds_of_before_the_first_question_are_marked_and_others_are_not() -> None:
    tested = load_result(SHIPPED)
    statement, other = (
        Statement.model_validate({"thresholds": {"fact_or_fair": {"llm_fairness": n}}}) for n in (0.1, 0.2)
    )
    generation = {**tested.meta.get("generation", {}), "thresholds_sha256": thresholds_digest(statement)}
    asked = replace(tested, meta={**tested.meta, "generation": generation})
    for audited, mark in ((statement, TEXTS["before"]), (other, TEXTS["after"])):
        table = evidence_page(make_report([asked]), audited.model_copy(update={"system": "mine"})).table("thresholds")
        assert table is not None
        assert mark in table.note


@pytest.mark.process
@pytest.mark.slow
def test_nothing_is_cut_off_in_print_or_on_a_phone(tmp_path: Path) -> None:
    """A cell of the duties once ran past the edge of the paper, and its last column with it."""
    file = tmp_path / "page.html"
    file.write_text(to_html(evidence_page(make_report([load_result(SHIPPED)]), Statement())), encoding="utf-8")
    cut = "[...document.querySelectorAll('th, td, p, pre')].filter(e => e.getBoundingClientRect().right > innerWidth)"
    with chromium() as browser:
        paper, phone = (browser.new_page(viewport={"width": width, "height": 1000}) for width in (720, 390))
        paper.emulate_media(media="print")
        for page in (paper, phone):
            page.goto(file.as_uri())
        assert paper.evaluate(f"{cut}.map(e => e.textContent)") == []
        assert phone.evaluate("document.documentElement.scrollWidth") == 390
