"""What `fairspace plan` prints: what a run takes, what it can show, and what was assumed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from submissions.faults import plain
from submissions.registry import benchmark
from submissions.running.plan import Line, Plan
from submissions.running.plan_tokens import Span
from submissions.running.plan_values import Detectable


def show_plan(plan: Plan, console: Console | None = None) -> None:
    """Print a plan.

    Args:
        plan: of a run.
        console: where to; None for the terminal, or 160 columns where there is none.
    """
    out = console or Console(highlight=False)
    if console is None and not out.is_terminal:
        out = Console(highlight=False, width=160)
    out.print(_cell(f"{benchmark(plan.benchmark).title}: before the run"), style="bold")
    out.print(_work(plan))
    if plan.limit.text:
        out.print(_cell(plan.limit.text), style="bold")
    if plan.values:
        out.print(_values(plan.values))
        out.print(_cell(SMALLEST))
    for sentence in plan.assumptions:
        out.print(_cell(sentence), style="dim")


SMALLEST = (
    "Difference: the smallest between two models of as many items each that is found with 80 % probability at the 5 % "
    "level. Worst: the same under the worst spread, and where all answers about a stimulus are alike. Chance: how far "
    "from fair an even-handed model comes out on average. A range is over the values of a line; --json lists them all."
)


def _work(plan: Plan) -> Table:
    table = Table(header_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_footer=True)
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
        _hours(plan.hours),
        _costs(plan),
    ]
    names = ("task", "who", "stimuli", "requests", "of all", "images sent", "images made", "tokens in", "tokens out")
    for name, total in zip((*names, "hours", "cost"), totals, strict=True):
        side = "left" if name in ("task", "who") else "right"
        table.add_column(name, justify=side, no_wrap=name != "who", footer=_cell(total))  # type: ignore[arg-type]
    for line in plan.lines:
        table.add_row(*map(_cell, _line(line)))
    return table


def _line(line: Line) -> Sequence[str]:
    made = line.kind == "images"
    who = line.model or {"answers": "the model", "judge": "a judge", "images": "the image model"}[line.kind]
    cost = "–" if line.cost is None else _money(line.cost.usual, line.cost.most, line.cost.currency)
    return (
        line.task,
        who,
        _count(line.stimuli),
        "–" if made else _count(line.requests),
        f"{line.requests / line.of_requests:.1%}",
        _count(line.images_sent) if line.images_sent else "–",
        _count(line.requests) if made else "–",
        "–" if made else _span(line.input),
        "–" if made else _span(line.output),
        _hours(line.hours),
        cost,
    )


def _values(values: Sequence[Detectable]) -> Table:
    """One line for each family of a task with the same unit."""
    table = Table(
        title="What the sample can show",
        title_justify="left",
        header_style="bold",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    limited = any(value.full is not None for value in values)
    table.add_column("value", no_wrap=True)
    table.add_column("items", justify="right", no_wrap=True)
    for name in ("difference", "worst", *(("whole benchmark",) if limited else ()), "chance"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    table.add_column("assumed")
    for family in _families(values):
        first = family[0]
        name = first.value if len(family) == 1 else f"{first.family} ({len(family)} values)"
        notes = list(dict.fromkeys(value.note for value in family))
        cells = [
            name,
            f"{_range([value.n for value in family], _count)} {first.of}",
            _range([value.smallest for value in family]),
            _range([value.worst for value in family]),
            *([_range([value.full for value in family])] if limited else []),
            _range([value.floor for value in family]),
            first.unit,
            notes[0] + (" ..." if len(notes) > 1 else ""),
        ]
        table.add_row(*map(_cell, cells))
    return table


def _families(values: Sequence[Detectable]) -> list[list[Detectable]]:
    """Values of one family, task and unit together, undefined ones apart from the others."""
    found: dict[tuple[str, str, str, bool], list[Detectable]] = {}
    for value in values:
        key = (value.family, value.task, value.unit, value.smallest is None)
        found.setdefault(key, []).append(value)
    return list(found.values())


def _range(numbers: Sequence[float | None], write: object = None) -> str:
    known = [number for number in numbers if number is not None]
    if not known:
        return "–"
    low, high = (_count(int(end)) if write is _count else _short(end) for end in (min(known), max(known)))
    return low if low == high else f"{low} to {high}"


def _short(number: float) -> str:
    return f"{number:.3g}"


def _count(number: int) -> str:
    return f"{number:,}"


def _span(span: Span) -> str:
    if span.most == 0:
        return "–"
    return f"{_tokens(span.usual)} to {_tokens(span.most)}"


def _tokens(number: float) -> str:
    for size, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g} {name}"
    return f"{number:.0f}"


def _hours(span: Span) -> str:
    low, high = _short(span.usual), _short(span.most)
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


def _cell(text: object) -> Text:
    """Text as it is: no markup, no escape sequence."""
    return Text(plain(str(text)))
