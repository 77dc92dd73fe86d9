"""The tables and figures of a benchmark's paper, with one's own models beside the printed ones, in one folder.

A printed cell stands as printed; of one's own, the value with its 95 % interval. Notes below say why a cell is empty,
and where the measurement differs from the paper's.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.paper import Model, Paper, PaperTable
from fairspace.submissions.benchmarks.published import PRINTED
from fairspace.submissions.benchmarks.published import models as printed_cells
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import UsageError, need_packages, plain, web
from fairspace.submissions.plotting import number
from fairspace.submissions.report.headline import Table, caption, model_names
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.three_numbers import could_be
from fairspace.submissions.uncertainty.scores import Drawn, many_score_draws, uncertainties_of
from fairspace.submissions.values import Value, measured


@dataclass(frozen=True)
class Cell:
    """A cell: its text, the ends of its interval, and its notes."""

    text: str
    ends: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Filled:
    """A table of the paper with its rows: heads, model, cells; `notes` -> their numbers."""

    declared: PaperTable
    rows: Sequence[tuple[tuple[str, ...], Model, Sequence[Cell]]]

    @property
    def notes(self) -> Mapping[str, int]:
        """Note -> its number."""
        texts = [
            text for _, model, cells in self.rows for text in (*_of_row(model), *(n for c in cells for n in c.notes))
        ]
        return {text: place for place, text in enumerate(dict.fromkeys(texts), 1)}

    def table(self) -> Table:
        """The table as texts, with marked cells."""
        notes, it = self.notes, self.declared

        def marked(text: str, texts: Sequence[str]) -> str:
            return f"{text} ({', '.join(str(notes[each]) for each in texts)})" if texts else text

        rows = [
            [
                *heads,
                marked(model.name, _of_row(model)),
                *(marked(f"{c.text} [{', '.join(c.ends)}]" if c.ends else c.text, c.notes) for c in cells),
            ]
            for heads, model, cells in self.rows
        ]
        said = [f"({place}) {text}" for text, place in notes.items()]
        if any(cell.ends for _, _, cells in self.rows for cell in cells):
            said.insert(0, "In brackets: 95 % intervals.")
        heads = (*it.heads, "Model")
        groups = ("",) * len(heads) + tuple(it.groups) if it.groups else ()
        return Table(
            file_name(it.number), f"{it.number}. {it.caption}", (*heads, *it.columns), rows, " ".join(said), groups
        )

    def to_csv(self) -> str:
        """Numbers as in the table, those of intervals in columns of their own; empty for none."""
        it, text = self.declared, io.StringIO()
        own = any(cell.ends for _, _, cells in self.rows for cell in cells)
        columns = [
            f"{group} {column}".strip()
            for group, column in zip(it.groups or [""] * len(it.columns), it.columns, strict=True)
        ]
        ends = ("", " 95 % low", " 95 % high") if own else ("",)
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(
            [*it.heads, "Model", "source", *(f"{column}{end}" for column in columns for end in ends), "notes"]
        )
        for heads, model, cells in self.rows:
            numbers = [part for c in cells for part in (c.text, *((c.ends or ("", "")) if own else ()))]
            notes = dict.fromkeys([*_of_row(model), *(note for cell in cells for note in cell.notes)])
            source = "scored here" if model.own else "printed"
            lines.writerow(
                [*heads, model.name, source, *(n.replace("\N{MINUS SIGN}", "-") for n in numbers), " ".join(notes)]
            )
        return text.getvalue()


def _of_row(model: Model) -> list[str]:
    return [model.notes[""]] if model.notes.get("") else []


def sentence(text: str) -> str:
    """The text with a capital and a full stop."""
    text = plain(text)
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def file_name(number: str) -> str:
    """'Table 4 (a)' -> 'table4a'."""
    return "".join(sign for sign in number.lower() if sign.isalnum())


def declared(results: Sequence[Result]) -> Paper:
    """The parts of the paper of at least one result. UsageError without any."""
    first = results[0]
    found = benchmark(first.benchmark).reporting.paper(first.values, first.scored, first.standard)
    if found is None:
        raise UsageError(
            f"No tables of the paper of {benchmark(first.benchmark).title} are declared. Leave --paper out."
        )
    return found


def printed_models(name: str, paper: Paper) -> list[Model]:
    """The printed models of a benchmark, with the values that the paper's rules make of printed ones."""
    models = []
    for (model, cohort), cells in printed_cells(name).items():
        values: dict[str, Value] = {}
        texts, notes = {}, {}
        for cell in cells:
            named, unit = paper.printed(cell)
            if cell.value is None:
                texts[named] = cell.printed
            else:
                values[named] = measured(named, cell.value / unit, evidence={"printed": cell.printed})
            if cell.erratum:
                notes[named] = sentence(f"{cell.erratum}: {cell.note}")
        made = {key: value for key, value in _ruled(paper, values).items() if value.state == "value"}
        models.append(Model(model, False, cohort, {**made, **values}, texts, notes))
    return models


def _ruled(paper: Paper, values: Mapping[str, Value]) -> dict[str, Value]:
    """The values by the paper's rules; without bounds, as some of their parts have none."""
    points = {name: replace(value, low=value.value, high=value.value) for name, value in values.items()}
    return {name: replace(value, low=None, high=None) for name, value in paper.rules.values(points).items()}


def own_model(result: Result, name: str, paper: Paper) -> Model:
    """A result's values, scores and labels, and the values by the paper's rules with their intervals."""
    bench, made = benchmark(result.benchmark), _ruled(paper, result.values)
    if result.draws is not None and made:
        scored = Scored(made, "", None)
        ruled = replace(bench, scoring=replace(bench.scoring, table=lambda *_: paper.rules))
        drawn = Drawn(replace(scored, labels=result.scored.labels), result.values, result.draws)
        (draws,) = many_score_draws(ruled, [drawn], bench.standards[result.standard])
        for key, about in uncertainties_of(scored, result.values, draws, paper.rules).items():
            made[key] = replace(made[key], uncertainty=about)
    protocol = bench.protocol_of(result.signature, result.scored)
    about_row = caption([result])
    if protocol != PRINTED:
        about_row += f" Not the paper's protocol but {protocol}. {bench.protocol_text(protocol)}"
    values = {**made, **result.scored.shown, **result.values}
    cohort = bench.protocols.cohort_of(result.scored)
    return Model(name, True, cohort, values, result.scored.labels, {"": plain(about_row).strip()})


def filled(table: PaperTable, models: Sequence[Model], looks: Mapping[str, tuple[float, int]]) -> Filled:
    """The table with a row for each model that has one of a block's values; `looks`: name -> unit and decimals."""
    known = [
        [looks[block.names[c]] for block in table.blocks if block.names[c] in looks] for c in range(len(table.columns))
    ]
    columns = [found[0] if found else (table.unit, table.digits) for found in known]
    rows = [
        (block.heads, model, [_cell(model, name, *look) for name, look in zip(block.names, columns, strict=True)])
        for block in table.blocks
        for model in models
        if block.cohort in ("", model.cohort) and _has(model, block.names)
    ]
    return Filled(table, rows)


def _has(model: Model, names: Sequence[str]) -> bool:
    return any(
        name in model.texts or (name in model.values and model.values[name].state != "not_run") for name in names
    )


def _cell(model: Model, name: str, unit: float, digits: int) -> Cell:
    value, notes = model.values.get(name), [model.notes[name]] if name in model.notes else []
    if value is None or value.value is None:
        if name and model.own and name not in model.texts:
            notes.append("Not measured." if value is None else sentence(value.reason))
        return Cell(model.texts.get(name, "–" if name and model.own else ""), (), tuple(notes))
    text = str(value.evidence.get("printed", ""))
    if text.startswith("<"):
        return Cell(text, (), tuple(notes))

    def show(numeral: float) -> str:
        return number(unit * numeral, digits)

    if missing := could_be(value, show):
        notes.append(sentence(missing))
    return Cell(show(value.value), tuple(map(show, value.interval or ())), tuple(notes))


def write_paper(results: Sequence[Result], folder: Path) -> list[Path]:
    """Write each table as .tex and .csv, each figure as .svg and .png (`why_no_png`), and `paper.html` with all.

    Returns the files, that one first. UsageError: a benchmark without declared tables, or several benchmarks.
    """
    kinds = {(result.benchmark, result.standard) for result in results}
    if len(kinds) > 1:
        raise UsageError("--paper: expected results of one benchmark under one standard.")
    paper, name = declared(results), results[0].benchmark
    own = [own_model(r, plain(n), paper) for r, n in zip(results, model_names(results), strict=True)]
    models, looks = [*printed_models(name, paper), *own], printed_looks(name, paper)
    folder.mkdir(parents=True, exist_ok=True)
    title = f"{benchmark(name).title}: the paper's tables and figures"
    page, files = [f"<h1>{web(title)}</h1>"], [folder / "paper.html"]

    def write(file: str, content: str | bytes) -> None:
        files.append(folder / file)
        files[-1].write_bytes(content.encode() if isinstance(content, str) else content)

    for part in paper.parts:
        stem = file_name(part.number)
        if isinstance(part, PaperTable):
            shown = filled(part, models, looks)
            write(f"{stem}.tex", shown.table().to_latex())
            write(f"{stem}.csv", shown.to_csv())
            page.append(f"{shown.table().to_html()}<p>{web(shown.table().note)}</p>")
            continue
        inside = [m for m in models if any(all(m.number(n) is not None for n in each) for each in part.names)]
        svg = part.draw(inside).document()
        write(f"{stem}.svg", svg)
        if not why_no_png():
            write(f"{stem}.png", to_png(svg))
        lacking = [model.name for model in own if model not in inside]
        note = f" Not drawn: {', '.join(lacking)}, for lack of a value." if lacking else ""
        page.append(f"<figure>{svg}<figcaption>{web(f'{part.number}. {part.caption}{note}')}</figcaption></figure>")
    files[0].write_text(_PAGE.format(title=web(title), body="\n".join(page)), encoding="utf-8")
    return files


_PAGE = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 15px system-ui, sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em }}
table {{ border-collapse: collapse; margin-top: 2.5em; display: block; overflow-x: auto }}
caption {{ text-align: left; font-weight: 600 }} th, td {{ padding: .15em .6em; text-align: right }}
th:first-child, td:first-child {{ text-align: left }} tr {{ border-bottom: 1px solid #d5d9dd }}
p, figcaption {{ font-size: 13px }} figure {{ margin: 2.5em 0 }} svg {{ max-width: 100%; height: auto }}
</style><body>{body}</body></html>
"""


def printed_looks(name: str, paper: Paper) -> dict[str, tuple[float, int]]:
    """Name -> unit and most decimals of its printed figures."""
    looks: dict[str, tuple[float, int]] = {}
    for cells in printed_cells(name).values():
        for cell in cells:
            if cell.value is not None and cell.printed[0] != "<":
                named, unit = paper.printed(cell)
                most = looks.get(named, (unit, 0))[1]
                looks[named] = unit, max(most, len(cell.printed.partition(".")[2]))
    return looks


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
