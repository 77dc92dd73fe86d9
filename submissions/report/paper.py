"""The tables and figures of a benchmark's paper, with one's own models beside the printed ones, in one folder.

A printed cell has the digits of the paper, one's own its 95 % interval. Notes say why a cell is empty, which erratum it
has, and how the measurement differs from the paper's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment
from markupsafe import Markup

from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.paper import Model, Paper, PaperTable
from fairspace.submissions.benchmarks.published import PRINTED
from fairspace.submissions.benchmarks.published import models as printed_cells
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import UsageError, need_packages, plain
from fairspace.submissions.plotting import number
from fairspace.submissions.report.contents import one_kind
from fairspace.submissions.report.headline import Table, caption, model_names
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.three_numbers import could_be
from fairspace.submissions.uncertainty.scores import Drawn, many_score_draws, uncertainties_of
from fairspace.submissions.values import Value, measured


def write_paper(results: Sequence[Result], folder: Path) -> list[Path]:
    """Write each table as .tex and .csv, each figure as .svg and .png (see `why_no_png`), and `paper.html` with all.

    Returns the files, that one first. UsageError: several benchmarks or standards, or one without declared tables.
    """
    one_kind(results)
    first, bench, names = results[0], benchmark(results[0].benchmark), map(plain, model_names(results))
    paper: Paper | None = bench.reporting.paper(first.values, first.scored, first.standard)
    if paper is None:
        raise UsageError(f"--paper: no tables are declared for the paper of {bench.title}. Leave it out.")
    printed, looks = _printed(bench.name, paper)
    own = [_own(result, name, paper) for result, name in zip(results, names, strict=True)]
    folder.mkdir(parents=True, exist_ok=True)
    shown: list[tuple[str, Any, str]] = []
    files = {"paper.html": b""}
    for part in paper.parts:
        stem, heading = "".join(filter(str.isalnum, part.number.lower())), f"{part.number}. {part.caption}"
        if isinstance(part, PaperTable):
            table, lines = _filled(part, stem, heading, [*printed, *own], looks)
            files |= {f"{stem}.tex": table.to_latex().encode(), f"{stem}.csv": lines.encode()}
            shown.append(("", Markup(table.to_html()), table.note))  # noqa: S704 its texts are escaped
            continue
        models = [m for m in (*printed, *own) if any(None not in map(m.number, names) for names in part.names)]
        svg = part.draw(models).document()
        files |= {f"{stem}.svg": svg.encode()} | ({} if why_no_png() else {f"{stem}.png": to_png(svg)})
        lacking = ", ".join(model.name for model in own if model not in models)
        shown.append((heading, Markup(svg), f"Not drawn for lack of values: {lacking}." if lacking else ""))  # noqa: S704
    template = Environment(autoescape=True).from_string(_PAGE.read_text(encoding="utf-8"))
    files["paper.html"] = template.render(title=bench.title, shown=shown).encode()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in files]


_PAGE = Path(__file__).with_name("paper.html.jinja")
Looks = dict[str, tuple[float, int]]
"""Name -> unit and most decimals of its printed figures."""


def _printed(name: str, paper: Paper) -> tuple[list[Model], Looks]:
    models, looks = [], {}
    for (model, cohort), cells in printed_cells(name).items():
        values: dict[str, Value] = {}
        texts, notes = {}, {}
        for cell in cells:
            key, unit = paper.printed(cell)
            if cell.erratum:
                notes[key] = _sentence(f"{cell.erratum}: {cell.note}")
            if cell.value is None or cell.printed.startswith("<"):
                texts[key] = cell.printed
            if cell.value is not None:
                values[key] = measured(key, cell.value / unit)
                looks[key] = unit, max(looks.get(key, (unit, 0))[1], len(cell.printed.partition(".")[2]))
        made = {key: value for key, value in _ruled(paper, values).items() if value.state == "value"}
        models.append(Model(model, False, cohort, {**made, **values}, texts, notes))
    return models, looks


def _own(result: Result, name: str, paper: Paper) -> Model:
    bench, made = benchmark(result.benchmark), _ruled(paper, result.values)
    if result.draws is not None and made:
        scored = Scored(made, "", None, labels=result.scored.labels)
        ruled = replace(bench, scoring=replace(bench.scoring, table=lambda *_: paper.rules))
        drawn = Drawn(scored, result.values, result.draws)
        (draws,) = many_score_draws(ruled, [drawn], bench.standards[result.standard])
        for key, about in uncertainties_of(scored, result.values, draws, paper.rules).items():
            made[key] = replace(made[key], uncertainty=about)
    protocol, about_row = bench.protocol_of(result.signature, result.scored), caption([result])
    if protocol != PRINTED:
        about_row += f" Not the paper's protocol but {protocol}. {bench.protocol_text(protocol)}"
    values = {**made, **result.scored.shown, **result.values}
    cohort = bench.protocols.cohort_of(result.scored)
    return Model(name, True, cohort, values, result.scored.labels, {"": _sentence(about_row)})


def _ruled(paper: Paper, values: Mapping[str, Value]) -> dict[str, Value]:
    """The values by the paper's rules; without bounds, as some of their parts have none."""
    points = {name: replace(value, low=value.value, high=value.value) for name, value in values.items()}
    return {name: replace(value, low=None, high=None) for name, value in paper.rules.values(points).items()}


def _filled(it: PaperTable, stem: str, heading: str, models: Sequence[Model], looks: Looks) -> tuple[Table, str]:
    """The table with numbered notes, and as CSV with notes and intervals in columns of their own."""
    heads, notes, rows, lines = (*it.heads, "Model"), dict[str, int](), [], []
    groups = it.groups or [""] * len(it.columns)
    columns = [f"{group} {column}".strip() for group, column in zip(groups, it.columns, strict=True)]
    names = [it.names_of(block) for block in it.blocks]
    known = ([looks[name] for name in column if name in looks] for column in zip(*names, strict=True))
    formats = [next(iter(found), (it.unit, it.digits)) for found in known]

    def marked(text: str, texts: Iterable[str]) -> str:
        places = [str(notes.setdefault(each, len(notes) + 1)) for each in texts]
        return f"{text} ({', '.join(places)})" if places else text

    for block, of_block in zip(it.blocks, names, strict=True):
        for model in models:
            there = [name for name in of_block if name in model.texts or name in model.values]
            run = any(name in model.texts or model.values[name].state != "not_run" for name in there)
            if not run or block.cohort not in ("", model.cohort):
                continue
            about = [model.notes[""]] if model.own else []
            line = dict(zip(heads, (*block.heads, model.name), strict=True))
            row, line["source"] = [*block.heads, marked(model.name, about)], "own" if model.own else "printed"
            for column, name, form in zip(columns, of_block, formats, strict=True):
                text, ends, why = _cell(model, name, *form)
                row.append(marked(f"{text} [{', '.join(ends)}]" if ends else text, why))
                line |= dict(zip((column, f"{column} low", f"{column} high"), (text, *ends), strict=False))
                about += why
            rows.append(row)
            line = {key: text.replace("\N{MINUS SIGN}", "-") for key, text in line.items()}
            lines.append(line | {"notes": " ".join(dict.fromkeys(about))})
    note = " ".join(["In brackets: 95 % intervals.", *(f"({place}) {text}" for text, place in notes.items())])
    above = [""] * len(heads) + list(it.groups) if it.groups else ()
    table = Table(stem, heading, (*heads, *it.columns), rows, note, above)
    return table, pd.DataFrame(lines).to_csv(index=False, lineterminator="\n")


def _cell(model: Model, name: str, unit: float, digits: int) -> tuple[str, Sequence[str], Sequence[str]]:
    """Text, ends of the interval, notes."""
    value, notes = model.values.get(name), [model.notes[name]] if name in model.notes else []
    if name in model.texts or not name:
        return model.texts.get(name, ""), (), notes
    if value is None or value.value is None:
        why = "Not measured." if value is None else _sentence(value.reason)
        return "–", (), [why] if model.own else notes

    def show(numeral: float) -> str:
        return number(unit * numeral, digits)

    missing = could_be(value, show)
    return show(value.value), [*map(show, value.interval or ())], [*notes, *([_sentence(missing)] if missing else [])]


def _sentence(text: str) -> str:
    text = plain(text).strip()
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def why_no_png() -> str:
    """The reason why figures are SVG alone, with the installing command; '' where PNG can be written."""
    try:
        need_packages("png", "resvg_py")
    except UsageError as absent:
        return f"The figures are SVG alone; for PNG, {absent}"
    return ""


def to_png(svg: str) -> bytes:
    """An SVG as PNG of twice its size. Needs the extra `png`."""
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=2, sans_serif_family="DejaVu Sans"))
