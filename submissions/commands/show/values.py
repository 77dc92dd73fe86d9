"""Values as the command prints them: the three numbers of each in 80 columns; with `--all` every further fact, too."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence

from rich.text import Text

from fairspace.submissions.benchmarks.genres.parse.lexicons import REMEDIES
from fairspace.submissions.benchmarks.ideal import Ideal
from fairspace.submissions.commands.show.tables import OUT, cell, new_table
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import digits
from fairspace.submissions.results.folded_facts import SENTENCES, Fact, folded_facts
from fairspace.submissions.results.three_numbers import NO_VALUES, ThreeNumbers, three_numbers
from fairspace.submissions.values import Value

WIDTH = 80
CHANCE = len("down to 0.0000")
"""Columns of what fair models show by chance: the mean, and below it the end."""
LEGEND = (
    "By chance: what a perfectly fair model scores with as many answers (mean, and the end for 95 % of such models). "
    '"No bias shown" is no proof of fairness. --all has the component metrics and all other facts.'
)
Meanings = Mapping[str, tuple[str, str]]
"""Name of a value -> what it is, and which way is better."""
Ideals = Callable[[str], Ideal | None]
Instruments = Mapping[str, tuple[float, float]]
NO_OTHERS: Instruments = {}
NO_MEANINGS: Meanings = {}


def show_values(
    title: str,
    rows: Iterable[Value],
    ideal: Ideals = lambda name: None,
    *,
    meanings: Meanings = NO_MEANINGS,
    raw: Mapping[str, Value] = NO_VALUES,
    everything: bool = False,
    instruments: Instruments = NO_OTHERS,
) -> None:
    """Print values with a number as a table, and below it the others by their reason.

    Args:
        title: Heading of the table.
        rows: the values.
        ideal: name of a value -> its ideal.
        meanings: Meanings of the values; others have none.
        raw: the raw values of the same result.
        everything: also every fact that is folded away.
        instruments: name of a value -> the smallest and the largest by other instruments, for `everything`.
    """
    values = list(rows)
    numbers = [value for value in values if value.state == "value"]
    if numbers:
        _table(title, numbers, ideal, meanings, raw)
    elif values:
        OUT.print(cell(title), style="italic")
    if everything:
        for value in numbers:
            show_facts(
                value.name, folded_facts(value, ideal(value.name), digits, instruments=instruments.get(value.name))
            )
    for line in without_number(values):
        show_wrapped(line.lstrip(), " " * (len(line) - len(line.lstrip())))


def _table(title: str, rows: Sequence[Value], ideal: Ideals, meanings: Meanings, raw: Mapping[str, Value]) -> None:
    shown = [(value.name, three_numbers(value, ideal(value.name), digits, values=raw)) for value in rows]
    ways = {way for value in rows for _, way in [meanings.get(value.name, ("", ""))]}
    common = next(iter(ways)) if len(ways) == 1 else ""
    table = new_table(f"{title} ({common})" if common else title)
    table.add_column("name", overflow="fold")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("95 % interval", justify="right", no_wrap=True)
    table.add_column("by chance", justify="right", max_width=CHANCE)
    for name, three in shown:
        words, way = meanings.get(name, ("", ""))
        meaning = "; ".join(filter(None, (words, "" if common else way)))
        below = [(f"\n{line}", style) for line, style in ((meaning, "dim"), (three.missing_text, "")) if line]
        named = Text.assemble(plain(name), *below)
        table.add_row(named, cell(three.value_text), cell(three.interval_text), Text(chance_lines(three)))
    OUT.print(table, width=WIDTH)


def chance_lines(three: ThreeNumbers) -> str:
    """Values of fair models by chance, their end below, and the verdict below both."""
    return "\n".join(filter(None, (three.chance_text.replace(", ", ",\n"), three.verdict)))


def show_facts(name: str, facts: Iterable[Fact]) -> None:
    """Print the folded facts of a value."""
    OUT.print(cell(name), style="bold")
    for fact in facts:
        show_wrapped(f"{fact.name}: {fact.text}", "  ")


def show_sentences() -> None:
    """Print what each fact is, in a sentence each."""
    OUT.print(cell("What these facts are"), style="bold")
    for name, sentence in SENTENCES.items():
        show_wrapped(f"{name}: {sentence}", "  ")


def show_wrapped(text: str, indent: str = "", style: str = "") -> None:
    """Print a text in lines of 80 columns."""
    for line in textwrap.wrap(
        plain(text), WIDTH, initial_indent=indent, subsequent_indent=2 * indent, break_on_hyphens=False
    ):
        OUT.print(Text(line), style=style)


def without_number(rows: Iterable[Value]) -> list[str]:
    """For each reason why values have no number: state and reason; the values, with valid/expected; what to do."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for value in rows:
        if value.state != "value":
            counts = f" {value.valid}/{value.expected}" if value.expected else ""
            reasons.setdefault((value.state, value.reason), []).append(value.name + counts)
    lines = []
    for (state, reason), names in reasons.items():
        lines += [f"{state.replace('_', ' ').capitalize()}: {reason}", f"  {', '.join(names)}"]
        lines += [f"  to have it: {REMEDIES[reason]}"] if reason in REMEDIES else []
    return lines
