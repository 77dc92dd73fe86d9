"""A board as text: for each kind of rows that share ranks a table of these, and of their score in three numbers."""

from collections.abc import Iterator, Sequence

from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.plotting import NOTHING, digits
from fairspace.submissions.results.row import CLASSES, Row, none_verified, ranking_of
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.three_numbers import CHANCE_SIGNS, numbers_in_row
from fairspace.submissions.show.headline import direction
from fairspace.submissions.show.table import Table, wrapped


def board_text(name: str, standard: str, rows: Sequence[Row]) -> str:
    """The board of the benchmark `name`, in 80 columns."""
    return "\n".join(_lines(benchmark(name), standard, rows))


def _lines(bench: Benchmark, standard: str, rows: Sequence[Row]) -> Iterator[str]:
    if lacking := none_verified([row.row_class for row in rows]):
        yield wrapped(lacking)
    for total in filter(None, dict.fromkeys(ranking_of(row, bench, standard) for row in rows)):
        way = direction(bench, bench.ideal(total, standard), is_score=True)
        yield wrapped(f"{total}: {'; '.join(filter(None, (bench.describe(total), way)))}.")
    for ranked_with in dict.fromkeys(row.ranked_with for row in rows):
        row_class, cohort, group = ranked_with
        shown = with_errors([row for row in rows if row.ranked_with == ranked_with], standard)
        of = ", ".join(filter(None, (CLASSES[row_class].title.lower(), cohort, group and f"protocol {group}")))
        yield f"\n{_table(f'{bench.title}, standard {standard}: {of}', shown, bench, standard)}"
        yield wrapped(CLASSES[row_class].means)
        for protocol in dict.fromkeys(row.protocol for row in shown if row.protocol):
            yield wrapped(f"{bench.protocol_title(protocol)}: {bench.protocol_text(protocol)}")


def _table(title: str, rows: Sequence[Row], bench: Benchmark, standard: str) -> Table:
    totals = [ranking_of(row, bench, standard) for row in rows]
    score = next(iter(totals), "").replace("_", " ")
    columns, lines = ["model", "rank", "could be", score, "95 % interval", "by chance", "note"], []
    for row, total in zip(rows, totals, strict=True):
        three = numbers_in_row(row, total, row.scores.get(total), digits, ranked=True)
        note = "; ".join(filter(None, (row.copy_of, row.claim, *row.remarks, three.missing_text)))
        rank = (row.model, str(row.rank or NOTHING), three.ranks_text)
        lines.append([*rank, three.value_text, three.interval_text, three.chance_limit, note])
    if all(line[-2] == NOTHING for line in lines):
        columns, lines = [*columns[:-2], "note"], [[*line[:-2], line[-1]] for line in lines]
        return Table(columns, lines, title)
    return Table(columns, lines, title, CHANCE_SIGNS)
