"""The tables and figures of a benchmark's paper, with one's own models beside the printed ones, in one folder.

A printed cell has the digits of the paper, one's own its 95 % interval. Notes say why a cell is empty, which erratum it
has, and how the measurement differs from the paper's.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment
from markupsafe import Markup

from fairspace.builders.registry import figures
from fairspace.builders.writing import beside
from fairspace.submissions.benchmarks.benchmark import Scored, Scoring
from fairspace.submissions.benchmarks.paper import PaperTable, PaperTables, PrintedModel
from fairspace.submissions.benchmarks.published import PAPER_PRINTS, PRINTED, published
from fairspace.submissions.benchmarks.published import models as printed_cells
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.errors import UsageError, harmless, need_packages, plain
from fairspace.submissions.plotting import number
from fairspace.submissions.report.contents import cited_methods, one_kind
from fairspace.submissions.results.draws import with_uncertainty
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.three_numbers import NOT_AVAILABLE, could_be
from fairspace.submissions.show.headline import caption, model_names, no_rank
from fairspace.submissions.show.table import Table
from fairspace.submissions.values import Value, measured

_PAGE = Path(__file__).with_name("paper.html.jinja")
Looks = dict[str, tuple[float, int]]
"""Name -> unit and most decimals of its printed figures."""


def write_paper(results: Sequence[Result], folder: Path, sources: Sequence[Path] = ()) -> list[Path]:
    """Write each table as .tex and .csv, each figure as .svg, and .png with the extra `png`, and all as `paper.html`.

    `methods.tex` says how it was measured, and cites `references.bib`.

    `sources`: submissions or probes, for the tables that need them. Returns the files, `paper.html` first. UsageError:
    several benchmarks or standards, one without declared tables, or a source that its paper has no table for.
    """
    one_kind(results)
    first, bench = results[0], benchmark(results[0].benchmark)
    paper: PaperTables | None = bench.reporting.paper(first.values, first.scored, first.standard)
    if paper is None:
        raise UsageError(f"--paper: no tables are declared for the paper of {bench.title}. Leave it out.")
    models, looks = _printed(bench.name, paper)
    models += paper.references
    readers = [_own(result, plain(name), paper) for result, name in zip(results, model_names(results), strict=True)]
    if sources and paper.read is None:
        raise UsageError(f"{sources[0]} is no result; the tables of this paper are made of results alone.")
    models += [*readers, *(paper.read(sources, read_submission) if sources and paper.read else ())]
    orders, absent = dict[str, dict[str, None]](), dict(paper.absent)
    for figure in figures(bench.name):
        orders.setdefault(figure.table, {})[figure.model] = None
    shown, files = list[tuple[str, Any, str]](), {"paper.html": b""}
    for part in paper.parts:
        stem, heading = "".join(filter(str.isalnum, part.number.lower())), f"{part.number}. {part.caption}"
        if isinstance(part, PaperTable):
            order = [*(part.models or orders.get(part.number, ()))]
            of_table = [model for model in models if model.own or model.name in order or not order]
            of_table.sort(key=lambda model: len(order) if model.own else [*order, model.name].index(model.name))
            table, lines = _filled(part, of_table, looks, {model.name for model in readers})
            latex = replace(table, name=stem, heading=f"As {part.number} of {bench.title}. {part.caption}").to_latex()
            if len(table.columns) > _MOST_COLUMNS:
                latex = latex.replace(*_WIDE[0]).replace(*_WIDE[1])
            files |= {f"{stem}.tex": latex.encode(), f"{stem}.csv": lines.encode()}
            content, note = str(table.html), table.note
        else:
            whole = [{n for n, value in model.values.items() if value.state == "value"} for model in models]
            drawn = [m for m, there in zip(models, whole, strict=True) if any(there >= {*each} for each in part.names)]
            if not drawn:
                absent[part.number] = part.needs
                continue
            content, lacking = part.draw(drawn).document(), [model.name for model in readers if model not in drawn]
            note = f"Not drawn, for lack of values: {', '.join(lacking)}." if lacking else ""
            files[f"{stem}.svg"] = content.encode()
            with suppress(UsageError):
                files[f"{stem}.png"] = to_png(content)
        shown.append((heading, Markup(content), note))  # noqa: S704 its texts are escaped
    texts = cited_methods(results, [plain(name) for name in model_names(results)])
    files |= {name: text.encode() for name, text in zip(("methods.tex", "references.bib"), texts, strict=True)}
    template = Environment(autoescape=True).from_string(_PAGE.read_text(encoding="utf-8"))
    files["paper.html"] = template.render(title=bench.title, shown=shown, absent=absent, texts=texts).encode()
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as places:  # all files of the earlier folder, or none, are replaced
        for name, data in files.items():
            places.enter_context(beside(folder / name)).write_bytes(data)
    return [folder / name for name in files]


_MOST_COLUMNS = 6
_WIDE = ((r"\begin{tabular}", r"\resizebox{\linewidth}{!}{\begin{tabular}"), (r"\end{tabular}", r"\end{tabular}}"))
"""LaTeX of a table with more columns, as wide as the text; needs the package graphicx."""


def to_png(svg: str) -> bytes:
    """An SVG as PNG of twice its size. UsageError without the extra `png`."""
    need_packages("png", "resvg_py")
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=2, sans_serif_family="DejaVu Sans"))


def _printed(name: str, paper: PaperTables) -> tuple[list[PrintedModel], Looks]:
    models, looks = list[PrintedModel](), Looks()
    for (model, cohort), cells in printed_cells(name).items():
        values, texts, notes = dict[str, Value](), dict[str, str](), dict[str, str]()
        for cell in cells:
            key, unit = paper.printed(cell)
            if cell.erratum:
                notes[key] = _sentence(f"{cell.erratum}: {cell.note}")
            if cell.value is not None:
                values[key] = measured(key, cell.value / unit)
            if cell.value is None or cell.printed.startswith("<"):
                texts |= {key: cell.printed} if cell.printed else {}
            else:
                looks[key] = unit, max(looks.get(key, (unit, 0))[1], len(cell.printed.partition(".")[2]))
        made = {key: value for key, value in _ruled(paper, values).items() if value.state == "value"}
        models.append(PrintedModel(model, False, cohort, {**made, **values}, texts, notes))
    return models, looks


def _own(result: Result, name: str, paper: PaperTables) -> PrintedModel:
    bench, made = benchmark(result.benchmark), _ruled(paper, result.values)
    if result.draws is not None and made:
        bare, scored = Scoring(lambda *_: paper.rules), Scored(made, "", None)
        ruled, draws = replace(bench, scoring=bare), (result.values, result.draws)
        made = {**with_uncertainty(ruled, scored, *draws, None, AS_RELEASED).scores}
    protocol = bench.protocol_of(result.signature, result.scored)
    about = " ".join([*no_rank(result), caption([result])])
    if protocol != PRINTED:
        about += f" Not the paper's protocol but {protocol}. {bench.protocol_text(protocol)}"
    if other := bench.words.stimuli_of(protocol):
        name = f"{name} ({other})"
    printed = [value for row in published(bench.name, result.standard) for value in row.scores.values()]
    if any(PAPER_PRINTS in value.evidence or value.reason.startswith(NOT_AVAILABLE) for value in printed):
        about = f"{about.strip()} The printed scores are by another standard."
    values, cohort = {**made, **result.scored.shown, **result.values}, bench.protocols.cohort_of(result.scored)
    for value in result.values.values():
        parts = value.evidence.get("by_occupation", {})
        values |= {f"{of}.{value.name}": measured("", part) for of, part in parts.items() if type(part) is float}
    return PrintedModel(name, True, cohort, values, result.scored.labels, {"": _sentence(about)})


def _ruled(paper: PaperTables, values: Mapping[str, Value]) -> dict[str, Value]:
    """The values by the paper's rules; without bounds, as some of their parts have none."""
    points = {name: replace(value, low=value.value, high=value.value) for name, value in values.items()}
    return {name: replace(value, low=None, high=None) for name, value in paper.rules.values(points).items()}


def _filled(
    it: PaperTable, models: Sequence[PrintedModel], looks: Looks, results: Collection[str]
) -> tuple[Table, str]:
    """The table with numbered notes, and as CSV with intervals and notes in columns of their own."""
    heads, notes, lines, absent = (*it.heads, "Model"), dict[str, int](), [], dict[str, str]()
    cells, titles = dict[tuple[int, int], list[str]](), dict[int, str]()
    groups = it.groups if it.groups and not it.across else [""] * len(it.columns)
    columns = [f"{group} {column}".strip() for group, column in zip(groups, it.columns, strict=True)]
    names = [[name.replace("*", block.of) for name in it.names] for block in it.blocks]
    looks_there = ([looks[name] for name in column if name in looks] for column in zip(*names, strict=True))
    formats = [next(iter(cells), (it.unit, it.digits)) for cells in looks_there]

    def marked(text: str, texts: Iterable[str]) -> str:
        places = [str(notes.setdefault(each, len(notes) + 1)) for each in texts]
        return f"{text} ({', '.join(places)})" if places else text

    for (row, (block, of_block)), (place, model) in product(
        enumerate(zip(it.blocks, names, strict=True)), enumerate(models)
    ):
        values = [model.values[name] for name in of_block if name in model.values]
        if not {*of_block} & {*model.texts} and all(value.state == "not_run" for value in values):
            reason = next((value.reason for value in values), it.needs or "not measured")
            absent |= {model.name: reason} if model.own and model.name in results else {}
        elif block.cohort in ("", model.cohort.lower()):
            about = [model.notes[""]] if model.own else []
            titles[place], cells[row, place] = marked(model.name, about), []
            line = dict(zip(heads, (*block.heads, harmless(model.name)), strict=True))
            line["source"] = "own" if model.own else "printed"
            for column, name, form in zip(columns, of_block, formats, strict=True):
                text, ends, why = _cell(model, name, *form)
                cells[row, place].append(marked(f"{text} [{', '.join(ends)}]" if ends else text, why))
                line |= dict(zip((column, f"{column} low", f"{column} high"), (text, *ends), strict=False))
                about += why
            lines.append({**line, "notes": " ".join(dict.fromkeys(about))})
    kept = {line["Model"] for line in lines}
    sentences = [f"{name} has no row: {_sentence(why)}" for name, why in absent.items() if harmless(name) not in kept]
    note = " ".join([*(f"({place}) {text}" for text, place in notes.items()), *sentences])
    if it.across:
        whole = [(place, at) for place in sorted(titles) for at in range(len(columns))]
        whole = [(place, at) for place, at in whole if any(c[at] != "–" for (_, of), c in cells.items() if of == place)]
        above: Sequence[str] = [*(it.groups or [""] * len(it.heads)), *(titles[place] for place, _ in whole)]
        heads, columns = tuple(it.heads), [it.columns[at] for _, at in whole]
        none = ["–"] * len(it.columns)
        texts = [[cells.get((row, place), none)[at] for place, at in whole] for row in range(len(names))]
        rows = [[*block.heads, *row_texts] for block, row_texts in zip(it.blocks, texts, strict=True)]
    else:
        above = [""] * len(heads) + list(it.groups) if it.groups else ()
        columns, rows = list(it.columns), [[*it.blocks[at].heads, titles[of], *row] for (at, of), row in cells.items()]
    frame = pd.DataFrame(lines).replace("\N{MINUS SIGN}", "-", regex=True)
    return Table((*heads, *columns), rows, note=note, groups=above), frame.to_csv(index=False, lineterminator="\n")


def _cell(model: PrintedModel, name: str, unit: float, digits: int) -> tuple[str, Sequence[str], Sequence[str]]:
    """Text, ends of the interval, notes."""
    value, notes = model.values.get(name), [model.notes[name]] if name in model.notes else []
    if name in model.texts or not name:
        return model.texts.get(name, ""), (), notes
    if value is None or value.value is None:
        return "–", (), [_sentence(value.reason)] if model.own and value is not None else notes

    def show(numeral: float) -> str:
        return number(unit * numeral + 1e-9, digits)  # a mean of printed figures may end in 5

    notes += [_sentence(text) for text in filter(None, [could_be(value, show)])]
    return show(value.value), [*map(show, value.interval or ())], notes


def _sentence(text: str) -> str:
    text = plain(text).strip()
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
