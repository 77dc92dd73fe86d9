"""What `fairspace run --dry-run` prints: what a run takes, what it can show, and what was assumed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.table import Table

from fairspace.submissions.benchmarks.detectable import Detectable, families
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.commands.show.tables import OUT, cell, new_table
from fairspace.submissions.running.planning.plan import Line, Plan
from fairspace.submissions.running.planning.tokens import Span


def show_plan(plan: Plan, console: Console | None = None) -> None:
    """Print a plan.

    Args:
        plan: of a run.
        console: where to; standard output if left out.
    """
    out = console or OUT
    alone = _only_one(plan)
    by = f", by {alone}" if alone else ""
    out.print(cell(f"{benchmark(plan.benchmark).title}: before the run{by}"), style="bold")
    out.print(_work(plan))
    if plan.limit.text:
        out.print(cell(plan.limit.text), style="bold")
    if plan.values:
        table, notes = _values(plan.values)
        out.print(table)
        for number, note in enumerate(notes, start=1):
            out.print(cell(f"{number}: {note}."))
        out.print(cell(SMALLEST))
    for sentence in plan.assumptions:
        out.print(cell(sentence), style="dim")


SMALLEST = (
    "Difference: the smallest between two models of as many items each that is found with 80 % probability at the 5 % "
    "level. Worst: the same under the worst spread, and where all answers about a stimulus are alike. Chance: how far "
    "from fair an even-handed model comes out on average. A range is over the values of a line; --json lists them all."
)


def _work(plan: Plan) -> Table:
    """The stages of a run; columns that say nothing are left out: no number, all of the items, one who does all."""
    table = new_table("")
    table.show_footer = True
    totals = [
        "in all",
        "",
        "",
        _count(plan.requests) if plan.requests else "–",
        "",
        _count(sum(line.images_sent for line in plan.lines)),
        _count(plan.images) if plan.images else "–",
        _span(plan.input),
        _span(plan.output),
        _ends(plan.hours, _time),
        _costs(plan),
    ]
    names = ("task", "who", "stimuli", "requests", "of all", "images sent", "images made", "tokens in", "tokens out")
    lines = [_line(line) for line in plan.lines]
    columns = zip((*names, "time", "cost"), totals, zip(*lines, strict=True), strict=True)
    silent = ({"–"}, {"100.0%"}, {_only_one(plan)})
    shown = [(name, total, cells) for name, total, cells in columns if set(cells) not in silent]
    for name, total, _ in shown:
        is_text = name in ("task", "who")
        table.add_column(name, justify="left" if is_text else "right", footer=cell(total), overflow="fold")
    for row in zip(*(cells for _, _, cells in shown), strict=True):
        table.add_row(*map(cell, row))
    return table


def _who(line: Line) -> str:
    return line.model or {"answers": "the model", "judge": "a judge", "images": "the image model"}[line.kind]


def _only_one(plan: Plan) -> str:
    """Who does all stages; '' if there are several."""
    models = {_who(line) for line in plan.lines}
    return next(iter(models)) if len(models) == 1 else ""


def _line(line: Line) -> Sequence[str]:
    images = line.kind == "images"
    cost = "–" if line.cost is None else _money(line.cost.usual, line.cost.most, line.cost.currency)
    return (
        line.task,
        _who(line),
        _count(line.stimuli),
        "–" if images else _count(line.requests),
        f"{line.requests / line.of_requests:.1%}",
        _count(line.images_sent) if line.images_sent else "–",
        _count(line.requests) if images else "–",
        "–" if images else _span(line.input),
        "–" if images else _span(line.output),
        _ends(line.hours, _time),
        cost,
    )


def _values(values: Sequence[Detectable]) -> tuple[Table, list[str]]:
    """One line for each family of values, and the notes that its last column numbers."""
    table = new_table("What the sample can show")
    limited = any(value.full is not None for value in values)
    for name in ("value", "items", "difference", "worst", *(("without limit",) if limited else ()), "chance"):
        is_name = name == "value"
        table.add_column(name, justify="left" if is_name else "right", overflow="fold")
    table.add_column("unit")
    table.add_column("note", justify="right")
    notes: list[str] = []
    for label, family in families(values).items():
        first = family[0]
        notes += [note for note in dict.fromkeys(value.note for value in family) if note not in notes]
        numbers = sorted({notes.index(value.note) + 1 for value in family})
        cells = [
            first.value if len(family) == 1 else f"{label.removesuffix(', undefined')} ({len(family)} values)",
            f"{_range([value.n for value in family], '{:,.0f}')} {first.of}",
            _range([value.smallest for value in family]),
            _range([value.worst for value in family]),
            *([_range([value.full for value in family])] if limited else []),
            _range([value.floor for value in family]),
            first.unit,
            ", ".join(map(str, numbers)),
        ]
        table.add_row(*map(cell, cells))
    return table, notes


def _range(numbers: Sequence[float | None], form: str = "") -> str:
    """The least and the largest of the known ones; a dash if none is."""
    known = [number for number in numbers if number is not None]
    if not known:
        return "–"
    low, high = ((form or _digits(end)).format(end) for end in (min(known), max(known)))
    return low if low == high else f"{low} to {high}"


def _digits(number: float) -> str:
    """The format of two significant digits, without an exponent for large numbers."""
    return "{:,.0f}" if number >= 100 else "{:.2g}"


def _count(number: int) -> str:
    return f"{number:,}"


def _span(span: Span) -> str:
    return _ends(span, _tokens) if span.most else "–"


def _tokens(number: float) -> str:
    for size, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g} {name}"
    return f"{number:.0f}"


def _time(hours: float) -> str:
    if hours < 1 / 60:
        return f"{hours * 3600:.0f} s"
    return f"{hours * 60:.0f} min" if hours < 2 else f"{hours:.3g} h"


def _ends(span: Span, write: Callable[[float], str]) -> str:
    low, high = write(span.low), write(span.most)
    return low if low == high else f"{low} to {high}"


def _money(usual: float, most: float, currency: str) -> str:
    low, high = f"{usual:,.2f}", f"{most:,.2f}"
    return f"{low} {currency}" if low == high else f"{low} to {high} {currency}"


def _costs(plan: Plan) -> str:
    costs = [_money(cost.usual, cost.most, cost.currency) for cost in plan.costs]
    if not costs:
        return "–"
    without = f", without {', '.join(plan.unpriced)}" if plan.unpriced else ""
    return " + ".join(costs) + without
