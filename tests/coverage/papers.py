"""One page for each paper, `cards/papers/NAME.md`: which printed number follows from which published file.

`files.csv` has a row for the files that authors publish, and for what no file of theirs gives; below stands what
`fairspace verify` recomputes from other printed figures, each table in a CSV file beside the code.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

from fairspace.builders.registry import figures
from fairspace.submissions.results import shipped
from fairspace.submissions.results.scoring import load_result
from fairspace.submissions.verifying import Recomputed, printed_tables

FOLDER = "cards/papers"
PAPERS = {
    "iris": ("IRIS", ("IRIS", "ARES", "IRIS' probes")),
    "fact_or_fair": ("FACT-OR-FAIR", ("FACT-OR-FAIR",)),
    "stereotypical_bias": ("stereotypical bias", ("Stereotypical bias",)),
    "genres": ("GENRES", ("GENRES",)),
}
"""Benchmark -> paper in `files.csv`, headings of `fairspace verify`."""
STATES = {
    "follows": "is in it, or comes out of it by our commands",
    "can": "could come out of it, and was not run here",
    "cannot": "no published file gives it",
}
MODELS = {"Qwen-3B": "genres_qwen_3b", "Qwen-7B": "genres_qwen_7b", "Phi4": "genres_phi4"}
"""Models whose responses GENRES' authors publish -> the shipped result of them."""


def within_intervals() -> Iterator[tuple[str, bool]]:
    """Each printed M3 and M5 of a model with published responses; whether it is within the interval of its result."""
    folder = Path(shipped.__file__).parent
    for model, name in MODELS.items():
        values = load_result(folder / f"{name}.json").values
        for cell in figures("genres"):
            name = cell.column.removeprefix("delta_")
            value = values.get(name)
            if cell.model == model and name[:2] in ("M3", "M5") and value and value.interval and cell.value is not None:
                low, high = value.interval
                half = 0.5 * 10 ** -len(cell.printed.partition(".")[2])
                yield f"{cell.table}, {model}, {cell.column}", low - half <= cell.value <= high + half


def follows() -> dict[str, str]:
    """Sentence on the counted numbers of a paper, for `{}` in its remarks."""
    inside = [*dict(within_intervals()).values()]  # Table 2 prints them once for each judge, whom they do not need
    return {"GENRES": f"{sum(inside)} of {len(inside)} printed numbers are within the 95 % interval of ours"}


def page(name: str) -> str:
    """The page of a benchmark's paper."""
    paper, headings = PAPERS[name]
    counted = follows()
    with Path(__file__).with_name("files.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["paper"] == paper]
    lines = [
        f"# {paper[0].upper()}{paper[1:]}: printed numbers and published files",
        "",
        "Do not edit: written by `python -m tests.coverage` from its `files.csv` and `fairspace verify`.",
        "",
        "## From the authors' files",
        "",
        *(f"- *{state}*: {meaning}." for state, meaning in STATES.items()),
        "",
        "| printed | published file | state | remark |",
        "|---|---|---|---|",
    ]
    for row in rows:
        remark = row["remark"].replace("{}", counted.get(paper, ""))
        lines.append(f"| {row['numbers']} | {row['file'] or '–'} | {row['state']} | {remark} |")
    lines += ["", "## From other printed figures", "", "| printed | where | numbers | verdict |", "|---|---|---|---|"]
    for each in printed_tables():
        if each.benchmark in headings:
            lines.append(f"| {each.column} | {each.table} | {each.count} | {_verdict(each)} |")
    tables = sorted({cell.id.split("/")[1] for cell in figures(name)})
    files = ", ".join(f"[{table}](../../builders/reference/published/{table}.csv)" for table in tables)
    lines += ["", f"Printed tables as files: {files}. [Errata](../errata.md), [verification](../verification.md)."]
    return "\n".join(lines) + "\n"


def _verdict(each: Recomputed) -> str:
    number = "" if each.reason else f", off by at most {each.difference:.2g}" if each.difference > each.bound else ""
    return f"{each.verdict}{number}"
