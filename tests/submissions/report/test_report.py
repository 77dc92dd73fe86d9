import csv
import io
import json
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from fairspace.submissions.answers.items import Item
from fairspace.submissions.answers.rows import COUNTED, Summary
from fairspace.submissions.benchmarks.stereotypical_bias.records import CELLS
from fairspace.submissions.checking.consistency import TaskConsistency
from fairspace.submissions.commands.score import APART
from fairspace.submissions.comparing import compare
from fairspace.submissions.errors import UsageError
from fairspace.submissions.report.contents import Report, make_report, to_csv, to_html, to_latex, to_markdown
from fairspace.submissions.report.evidence import TEMPLATE
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import load_result, rescore
from fairspace.submissions.show.headline import results_latex
from fairspace.submissions.show.table import Table
from fairspace.submissions.values import not_run, undefined
from tests.submissions.benchmarks.iris.results import iris_result
from tests.submissions.conftest import Run
from tests.submissions.results.test_tiers import result, waves
from tests.submissions.running.test_running_page import all_commands

HOSTILE = r"=1+1|\input{/etc/passwd} <script>alert(1)</script> $x$ [a](b) 100 % #1 ~^_"
ITEM = Item("worst", "vision_gender", "v/1", HOSTILE, "choice", "left", "plain", "It is ", "left", "", "1 if left: 1")
LATEX = r"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{}\end{{document}}"


def scored(model: str, level: float, number: int) -> Result:
    made = rescore(result(model, level, waves(0.01, number)), "up_to_twenty")
    outcomes = {**dict.fromkeys(COUNTED, 0), "choice": 190, "refused": 6, "not_handed_in": 4}
    return replace(made, readings={"vision_gender": Summary(outcomes, {}, ())}, items={"gender_occupation": (ITEM,)})


@pytest.fixture(scope="module")
def report() -> Report:
    """Two models that differ by 7 errors in all scores, and a third that does not differ from the first."""
    return make_report([scored("plain", 0.2, 3), scored(HOSTILE, 0.3, 4), scored("third", 0.201, 5)])


def test_differences_to_the_first_model_are_corrected_for_all_lines_of_the_table(report: Report) -> None:
    table = report.table("differences")
    assert table is not None
    assert len(table.rows) == 2 * 7  # six cells and the total
    assert {row[-1] for row in table.rows if row[0] == "third"} == {"not significant"}
    assert {row[-1] for row in table.rows if row[0] != "third"} == {"significant"}
    assert {row[-2] for row in table.rows if row[0] == "third"} == {"1.000"}
    assert "The 14 tests are corrected together" in " ".join(report.methods)


def test_csv_has_a_line_for_every_value_of_every_model_in_full(report: Report) -> None:
    lines = list(csv.DictReader(io.StringIO(to_csv(report))))
    assert len(lines) == sum(len(r.values) + len(r.scored.scores) for r in report.results)
    total = next(line for line in lines if line["name"] == "total")
    uncertainty = report.results[0].scored.scores["total"].uncertainty
    assert uncertainty is not None
    assert float(total["value"]) == pytest.approx(0.2)
    assert float(total["interval_low"]) == uncertainty.low
    assert {line["model"][:2] for line in lines} == {"pl", "'=", "th"}  # no formula


def test_markdown_has_tables_whose_rows_have_a_cell_for_every_column(report: Report) -> None:
    text = to_markdown(report)
    widths: dict[int, set[int]] = {}
    for number, block in enumerate(text.split("\n\n")):
        if block.startswith("| "):
            widths[number] = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
    assert len(widths) == 4
    assert all(len(width) == 1 for width in widths.values())
    assert "<script" not in re.sub(r"\\<", "", text)
    assert "95.0 %" not in text
    assert "190" in text
    assert "96.9 % of these could be read" in text


def test_a_page_needs_no_network_and_no_script_and_names_every_mark(report: Report) -> None:
    html = to_html(report)
    assert "<script" not in html
    assert set(re.findall(r"https?://[^\"<\s]*", html)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\b(?:src|href|url)\s*[=(]", html)
    assert html.count("<circle") > len(report.results) * 7 - 1
    assert html.count('<g class="mark"><title>') == html.count('<g class="mark">')
    assert "Answers to look at" in html
    assert "<mark>left</mark>" in html
    assert html.count("<h2>") == html.count("</h2>") == 7
    assert "95 % interval" in html


def test_latex_is_balanced_and_cites_the_paper(report: Report) -> None:
    text = to_latex(report)
    begun, ended = (Counter(re.findall(rf"\\{word}{{(\w+)}}", text)) for word in ("begin", "end"))
    assert begun == ended == {"table": 2, "tabular": 2}
    code = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    assert len(re.findall(r"(?<!\\)[{]", code)) == len(re.findall(r"(?<!\\)[}]", code))
    assert "@inproceedings{stereotypicalbias," in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex here to compile the tables with")
def test_latex_compiles(report: Report, tmp_path: Path) -> None:
    (tmp_path / "report.tex").write_text(LATEX.format(to_latex(report)), encoding="utf-8")
    done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "report.tex"], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


def test_results_of_two_benchmarks_or_standards_have_no_common_report() -> None:
    with pytest.raises(UsageError, match=r"one benchmark under one standard.*iris under"):
        make_report([scored("a", 0.2, 3), iris_result("b", "lab")])


def test_a_result_without_intervals_or_numbers_has_a_report() -> None:
    made = make_report([iris_result("m", "lab", RD_gender=float("nan"))])
    assert "undefined" in to_html(made)
    assert "iris_score: undefined" in to_markdown(made)


def test_answers_that_a_result_keeps_of_a_value_stand_under_its_name() -> None:
    html = to_html(make_report([scored("m", 0.2, 3)]))
    assert "m: gender_occupation (1)" in html
    assert "counts as 1 if left: 1" in html
    assert "<script" not in html


def test_results_are_compared_in_the_terminal_with_corrected_significance(run: Run, tmp_path: Path) -> None:
    files = []
    for number, level in enumerate((0.2, 0.3), 3):
        files.append(tmp_path / f"{number}.json")
        files[-1].write_text(scored(f"m{number}", level, number).dumps(), encoding="utf-8")
    out = run.fine("compare", *files)
    assert out.startswith("m4 against m3: sure differences, the biggest first:\n")
    assert "uneven choices: gender, occupations" in out
    assert " ".join(out.split()).count("+0.1000 95 %:") == out.count("0.1277; significant, p < 0.001") == 7
    assert max(map(len, out.splitlines())) <= 80
    assert len(compare(*map(load_result, files)).to_csv().splitlines()) == 1 + 7
    lines = json.loads(run("compare", *files, "--json")[1])
    assert {line["score"]: round(line["value"], 6) for line in lines}["total"] == 0.1
    assert {(line["base"], line["higher_is_better"]) for line in lines} == {("m3", False)}
    assert "results alone" in run("compare", files[0], tmp_path)[2]
    assert "Nobody knows" in run("compare", *(_without_draws(file) for file in files))[2]


def test_a_comparison_says_which_answers_it_compares(run: Run, tmp_path: Path) -> None:
    def partial(name: str, level: float, keys: str) -> Path:
        whole = scored(name, level, 3)
        values = {n: replace(v, expected=24, valid=16, low=0.0, high=0.5) for n, v in whole.values.items()}
        counts = {"expected": 24, "answers": 16, "readings": 16, "missing": 8, "unread": 0, "orphans": 0}
        held = TaskConsistency(**counts, keys=keys * 64, content="0" * 64, read="0" * 64)
        meta = {**whole.meta, "generation": {"limit": 2}}
        file = tmp_path / f"{name}.json"
        result = replace(whole, values=values, consistency={"vision_gender": held}, meta=meta)
        file.write_text(result.dumps(), encoding="utf-8")
        return file

    first, same, others = (partial(*about) for about in (("a", 0.2, "1"), ("b", 0.3, "1"), ("c", 0.3, "2")))
    out = " ".join(run("compare", first, same)[1].split())
    assert "a: limited to 2 stimuli a task. b: limited to 2 stimuli a task." in out
    assert "a and b answered the same 16 of 24 questions." in out
    assert "b against a: sure differences, the biggest first: " in out
    assert out.count("; significant, p < 0.001") == 7
    out = " ".join(run("compare", first, others)[1].split())
    assert "a and c did not answer the same questions (16 and 16 of 24)" in out
    assert out.startswith("c against a: no difference is sure. 7 of 7 values are open: numbers or answers are missing.")
    assert out.count("; not significant, p 1.000") == 7
    empty = _without_draws(partial("d", 0.2, "1"))
    data = json.loads(empty.read_text(encoding="utf-8"))
    for value in data["values"]:
        if value["state"] == "value":
            value |= {"state": "undefined", "reason": "no face found in 3 of 3 images"}
            del value["value"]
    empty.write_text(json.dumps(data), encoding="utf-8")
    told = " ".join(run("compare", first, empty)[2].split())
    assert "No score has a number in the first result and in another" in told
    assert "total is undefined" in told
    assert "keep no resamples" not in told


def _without_draws(file: Path) -> Path:
    data = json.loads(file.read_text(encoding="utf-8"))
    del data["draws"]
    file.write_text(json.dumps(data), encoding="utf-8")
    return file


def test_the_command_writes_what_is_asked_for(run: Run, tmp_path: Path) -> None:
    file, out = tmp_path / "result.json", tmp_path / "report"
    file.write_text(scored("plain", 0.2, 3).dumps(), encoding="utf-8")
    assert run.fine("report", file).startswith("# plain on Stereotypical bias")
    wanted = [word for kind in ("html", "tex", "csv", "md") for word in ("--out", out.with_suffix(f".{kind}"))]
    run.fine("report", file, *wanted)
    assert all(path.stat().st_size for path in wanted[1::2] if isinstance(path, Path))
    assert "There is no folder" in run.refused(2, "report", file, "--out", tmp_path / "none" / "x.md")
    assert "is a folder, no result" in run.refused(2, "report", tmp_path)


def test_options_that_would_be_left_out_are_refused(run: Run, tmp_path: Path) -> None:
    """Every two of the options of `report`: both do their work, or the command names both and writes nothing."""
    (tmp_path / "r.json").write_text(scored("m", 0.2, 3).dumps(), encoding="utf-8")
    (tmp_path / "given.toml").write_text(TEMPLATE, encoding="utf-8")
    settings = {"--eee": ["eee"], "--evidence": ["given.toml"], "--evidence-template": ["new.toml"], "--paper": []}
    settings |= {"--out": ["page.html"], "--card": ["model"]}
    params = all_commands().commands["report"].params
    assert {name for each in params for name in each.opts if name.startswith("--")} - {"--help"} == {*settings}
    there = {file.name for file in tmp_path.iterdir()}
    for pair in combinations(settings, 2):
        named = {option: [str(tmp_path / place) for place in settings[option]] for option in pair}
        if set(pair) == {"--out", "--paper"}:
            named["--out"] = [str(tmp_path / "folder")]
        results = [] if "--evidence-template" in pair else [tmp_path / "r.json"]
        code, _, error = run("report", *results, *(word for option in pair for word in (option, *named[option])))
        new = [file for file in tmp_path.iterdir() if file.name not in there]
        if any({option, other} == set(pair) for option, others in APART.items() for other in others):
            assert (code, new) == (2, []), pair
            assert all(option in error for option in pair)
        else:
            assert (code, bool(new)) == (0, True), pair
        for file in new:
            shutil.rmtree(file) if file.is_dir() else file.unlink()
    assert run("report", tmp_path / "r.json", "--paper", "--out", tmp_path / "paper.html")[0] == 2


def test_every_line_has_a_cell_for_every_column_and_a_minus_is_one_in_mathematics() -> None:
    rows = [("a_b & 5 %", "\N{MINUS SIGN}0.5"), ("c\\d\n", "–")]
    text = Table(("Value", "Model #1"), rows, "50 % of {all} $", name="x").to_latex()
    assert r"a\_b \& 5 \% & $-$0.5 \\" in text
    assert r"c\textbackslash{}d  & -- \\" in text
    assert r"\caption{50 \% of \{all\} \$}" in text
    assert text.count(r"\toprule") == text.count(r"\midrule") == text.count(r"\bottomrule") == 1


def test_one_result_has_its_three_numbers_and_several_stand_side_by_side() -> None:
    several = [
        rescore(result(name, level, waves(0.01, 3)), "up_to_twenty") for name, level in (("a", 0.2), ("b_c", 0.3))
    ]
    alone, beside = results_latex(several[:1]), results_latex(several)
    assert r"name & value & 95 \% interval & by chance & better \\" in alone
    assert r"name & a & b\_c \\" in beside
    ends = r"\[0\.\d{4} to 0\.\d{4}\]"
    assert re.search(rf"^total & 0\.2000 {ends} & 0\.3000 {ends} \\\\$", beside, re.M)


def test_models_of_one_name_have_columns_of_their_own() -> None:
    same = [result("m", level, waves(0.01, 3)) for level in (0.2, 0.3)]
    assert r"name & m (1) & m (2) \\" in results_latex(same)


def test_what_was_not_run_is_named_and_what_is_undefined_says_so() -> None:
    whole = result("m", 0.2, waves(0.01, 3))
    first, second, *_ = [cell.name for cell in CELLS]
    values = {**whole.values, first: not_run(first, "left out"), second: undefined(second, "no group was chosen")}
    text = results_latex([rescore(replace(whole, values=values), "up_to_twenty")])
    assert f"Not run: {first.replace('_', chr(92) + '_')}" in text
    assert re.search(r"^total & undefined & -- & -- ", text, re.M)
    assert "0.0000" not in text
