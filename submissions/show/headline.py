"""The beginning of a result in sentences, its headline (score, place, missing answers), leading values, text tables."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairspace.submissions.benchmarks.benchmark import Benchmark, Ideal
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED
from fairspace.submissions.errors import plain
from fairspace.submissions.format.manifest import PART
from fairspace.submissions.plotting import Show, digits
from fairspace.submissions.results.board import published_rows, scored_row
from fairspace.submissions.results.draws import WITHOUT
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Row, ranking_of
from fairspace.submissions.results.scoring import UNREAD, find_standard, limits_of
from fairspace.submissions.results.three_numbers import (
    ThreeNumbers,
    could_be,
    lacking,
    probability,
    state_of,
    three_numbers,
)
from fairspace.submissions.show.table import TEXTS, Table
from fairspace.submissions.values import Value, number_of


@dataclass(frozen=True)
class Headline:
    """The headline of a result.

    `score`: name of the first of the benchmark's leading values; `facts`: label -> text, in display order; `unranked`:
    every reason for no rank.
    """

    score: str
    three: ThreeNumbers
    facts: Sequence[tuple[str, str]]
    unranked: tuple[str, ...]

    @property
    def number(self) -> str:
        """The score with its interval, as in 'total: 0.20, 95 % interval 0.18 to 0.22'."""
        interval = f", 95 % interval {self.three.interval_text}" if self.three.value is not None else ""
        return f"{self.score}: {self.three.value_text}{interval}"


def sentences_of(result: Result) -> tuple[str, ...]:
    """The benchmark's plain sentences on a result, for the top of every report; () where it has none."""
    return tuple(benchmark(result.benchmark).reporting.sentences(result.values, result.scored, result.standard))


@dataclass(frozen=True)
class InShort:
    """A sentence on a result taken apart: its question, at most `WORDS` words that answer it, and further numbers."""

    question: str
    answer: str
    numbers: Sequence[str] = ()


WORDS = 12
_CLAUSE = re.compile(r"(?:\((?:[^()]|\([^()]*\))*\)|;(?! )|[^;(])+")
_ASIDE = re.compile(r" ?\(((?:[^()]|\([^()]*\))*)\)")


def in_short_sentences(sentences: Sequence[str]) -> tuple[list[InShort], dict[str, str]]:
    """Sentences on a result in short, and those that say what is not known: thing -> reason."""
    short, unknown = [], {}
    for sentence in sentences:
        first, *others = (clause.strip() for clause in _CLAUSE.findall(sentence.rstrip(".")))
        asides, bare = _ASIDE.findall(first), _ASIDE.sub("", first)
        question, _, answer = bare.rpartition(": ")
        if question == "Not known":
            unknown[answer] = "; ".join([*asides, *others])
            continue
        if not question and len(answer.split()) == 2:  # a score and its number
            question, answer = answer.split()
        while len(answer.replace(" %", "").split()) > WORDS and ", " in answer:
            answer, _, more = answer.rpartition(", ")
            asides.insert(0, more)
        short.append(InShort(question, answer, (*asides, *others)))
    return short, unknown


def opening(result: Result) -> list[str]:
    """First lines of every report: marks of a part, unread answers, sentences, an unknown score, why it has no rank."""
    marks, unread = limits_of(result), [reason for reason in result.scored.unranked if UNREAD in reason]
    lines = [*([f"{PART}: {'; '.join(marks)}."] if marks else []), *(f"{reason}." for reason in unread)]
    lines += [_OWN_JUDGE] if _judges_itself(result.meta) else []
    lines += sentences_of(result)
    scored = result.scored
    bench = benchmark(result.benchmark)
    name = bench.reporting.leading(scored, result.standard)[0]
    lead = scored.shown.get(name)
    if lead is not None and lead.value is None and lead.reason.rstrip(".") not in " ".join(lines):
        lines.append(f"{name} is {lacking(lead, False)}: {lead.reason.rstrip('.')}.")
    if other := bench.words.stimuli_of(bench.protocol_of(result.signature, result.scored)):
        lines.append(f"Stimuli other than the paper's: {other}.")
    return lines if marks else [*lines, *no_rank(result)]


_OWN_JUDGE = "The judge is the model itself, which may favour its own texts."


def _judges_itself(meta: Mapping[str, Any]) -> bool:
    """Whether the judge has the model's name, without folders and case."""
    judge = meta.get("judge")
    names = (meta.get("model"), judge.get("name") if isinstance(judge, Mapping) else None)
    model, judged_by = (str(name or "").rpartition("/")[2].casefold() for name in names)
    return bool(model) and model == judged_by


def no_rank(result: Result) -> list[str]:
    """Sentences with all reasons of `meaningful`, as every output of a result prints them."""
    return [f"No rank: {reason.rstrip('.')}." for reason in meaningful(result)]


def meaningful(result: Result) -> list[str]:
    """Reasons for no rank beside a missing number: answers that are constant, wrong or too few."""
    every = [*result.values.values(), *result.scored.scores.values()]
    missing = [value.reason for value in every if value.value is None and value.reason]
    missing += limits_of(result)
    missing += ["missing"] if result.scored.sample else []
    return [r for r in result.scored.unranked if not any(part in r or part.endswith(r) for part in missing)]


def in_short(*reasons: str) -> str:
    """Reasons for no rank as a table's cell has them, as in 'it answered the same letter 99 % of the time'."""
    texts = [re.split(r"\. (?=[A-Z])|; |: its |, so ", reason)[0].rstrip(".") for reason in reasons]
    return "; ".join(text if text[1:2].isupper() else f"{text[:1].lower()}{text[1:]}" for text in texts)


def headline(result: Result, show: Show) -> Headline:
    """The headline of a result; `show` formats its numbers."""
    bench, scored, standard = benchmark(result.benchmark), result.scored, result.standard
    name, ranking = bench.reporting.leading(scored, standard)[0], scored.shown.get(scored.ranking)
    ideal = bench.ideal(name, standard)
    three = three_numbers(scored.shown.get(name), ideal, show, values=result.values)
    chances = {label: f", P {probability(chance)}" for label, chance in scored.chances.items()}
    facts = [
        ("what it is", "; ".join(filter(None, (bench.describe(name), direction(bench, ideal, is_score=True))))),
        ("by chance", "" if three.value is None else three.chance_words),
        ("rank", _place(result, "" if name == scored.ranking else f"by {scored.ranking}, ")),
        ("missing", missing(ranking, bench.higher_is_better, show)),
        *((label.replace("_", " "), text + chances.get(label, "")) for label, text in scored.labels.items()),
    ]
    return Headline(name, three, [fact for fact in facts if fact[1]], scored.unranked)


def _place(result: Result, by: str) -> str:
    bench, scored = benchmark(result.benchmark), result.scored
    if scored.unranked:
        return "none"
    if result.meta.get("baseline"):
        return "none: a baseline is no model"
    if blind := bench.reporting.leaning(result.values, scored, result.standard):
        return f"none beside printed models: {blind}"
    place = standing(result)
    return by + place if place else "no printed model has this score"


def direction(bench: Benchmark, ideal: Ideal | None, *, is_score: bool = False) -> str:
    """The better direction of a value, and its ideal; '' for a raw value without one, which describes the model."""
    if ideal is None:
        return "" if not is_score else "higher is better" if bench.higher_is_better else "lower is better"
    if ideal.mixed:
        return ideal.mixed
    number = "what chance gives" if ideal.number is None else f"{ideal.number:g}"
    side = {"above": "lower is better, ", "below": "higher is better, ", "either": ""}[ideal.worse]
    return f"{side}{number} is ideal"


def way(bench: Benchmark, ideal: Ideal | None, *, is_score: bool = False) -> str:
    """`direction` in a table's cell, such as 'lower to 0'; 'near 0' where either side is worse."""
    text = "" if ideal and ideal.mixed else direction(bench, ideal, is_score=is_score)
    text = text.replace(" is better", "").replace(" is ideal", "")
    text = text.replace(", ", " to ").replace("what chance gives", "chance")
    return f"near {text}" if text[:1].isdigit() else text


def standing(result: Result) -> str:
    """'would be 2nd to 3rd beside 6 models of the paper', by both ends of the score; '' without printed numbers."""
    bench, name = benchmark(result.benchmark), result.scored.ranking
    total, printed = result.scored.scores.get(name), printed_like(result, name)
    if total is None or total.value is None or not printed:
        return ""
    ends = [end for end in (total.value, total.low, total.high, *(total.interval or ())) if end is not None]
    sign = 1 if bench.higher_is_better else -1
    best, worst = (
        1 + sum(sign * number > end for _, number in printed)
        for end in (max(sign * end for end in ends), min(sign * end for end in ends))
    )
    place = _ordinal(best)
    if worst > best:
        place += f" {'or' if worst == best + 1 else 'to'} {_ordinal(worst)}"
    group = scored_row(result, result.standard).group
    note = ", which answered other questions" if any(row.group != group for row, _ in printed) else ""
    return f"would be {place} beside {len(printed)} model{'s' * (len(printed) > 1)} of the paper{note}"


def _ordinal(place: int) -> str:
    ending = "th" if place // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


def printed_like(result: Result, name: str) -> list[tuple[Row, float]]:
    """Printed rows that are ranked as a result is, with their number of a score.

    None for a baseline, or for a bias that the score does not see.
    """
    bench = benchmark(result.benchmark)
    if result.meta.get("baseline") or bench.reporting.leaning(result.values, result.scored, result.standard):
        return []
    cohort = scored_row(result, result.standard).cohort
    return [
        (row, number)
        for row in published_rows(result.benchmark, result.standard)
        if row.cohort == cohort and ranking_of(row, bench, result.standard) == result.scored.ranking
        if (number := number_of(row.scores, name)) is not None
    ]


def missing(total: Value | None, higher_is_better: bool, show: Show) -> str:
    """Possible effect of the missing samples on a score, and its consequence."""
    if total is None or total.value is None:
        reason = "" if total is None else total.reason
        return f"{lacking(total, False)}: {reason}" if reason else lacking(total, False)
    words, worst = could_be(total, show), total.low if higher_is_better else total.high
    if not words:
        return "nothing that could change the score"
    use = "a sample estimate, not ranked" if total.reason else "" if worst is None else f"ranks use {show(worst)}"
    return "; ".join(filter(None, (words, use)))


def first_values(result: Result) -> dict[str, Value]:
    """The leading values, then the benchmark's chosen ones, or all its scores, the ranking one included.

    Scores of a partial run are estimates from the sample.
    """
    bench, scores = benchmark(result.benchmark), result.scored.shown
    names = (
        *bench.reporting.leading(result.scored, result.standard),
        *(bench.reporting.headline or scores),
        result.scored.ranking,
    )
    return {name: scores.get(name, value) for name, value in named(result, names).items()}


def named(result: Result, names: Collection[str]) -> dict[str, Value]:
    """Raw values and scores of these names; of a name that both have, the raw value."""
    values = {**result.scored.shown, **result.values}
    return {name: values[name] for name in names if name in values}


def score_limits(bench: Benchmark, standard: str, name: str, labels: Mapping[str, str]) -> tuple[float, float]:
    """The smallest and largest possible number of a score; infinite where it has no such end."""
    resolved = bench.scoring.resolve(find_standard(bench, standard), labels)
    return bench.scoring.table(resolved, AS_RELEASED).limits.get(name, WITHOUT)


def numbers_of(result: Result, value: Value) -> ThreeNumbers:
    """The three numbers of a value of a result."""
    ideal = benchmark(result.benchmark).ideal(value.name, result.standard)
    return three_numbers(value, ideal, digits, values=result.values)


def value_row(result: Result, name: str, value: Value) -> dict[str, Any]:
    """A value as a row of `Result.to_frame`, which documents the columns."""
    three, about = numbers_of(result, value), value.uncertainty
    ideal = benchmark(result.benchmark).ideal(name, result.standard)
    low, high = three.interval or (None, None)
    return {
        "name": name,
        "kind": "raw value" if name in result.values else "score",
        "value": value.value,
        "interval_low": low,
        "interval_high": high,
        "chance": None if about is None or ideal is None else about.fair,
        "chance_end": None if about is None or ideal is None else about.fair_high,
        "no_bias_shown": three.biased is False,
        "missing": three.missing_text,
        "if_missing_low": value.low,
        "if_missing_high": value.high,
        "valid": value.valid,
        "expected": value.expected,
        "ideal": None if ideal is None else ideal.number,
        "bad_direction": None if ideal is None else ideal.worse,
        "state": state_of(value),
        "reason": value.reason,
    }


VALUE_COLUMNS = ("value", "95 % interval", "by chance", "better")


def value_cells(three: ThreeNumbers, better: str) -> tuple[str, ...]:
    """Cells of `VALUE_COLUMNS`; `better`: text of `way`."""
    return three.value_text, three.interval_text, three.chance_limit, better or "–"


def value_table(
    name: str,
    heading: str,
    results: Sequence[Result],
    shown: Sequence[Mapping[str, Value]],
    describe: Callable[[str], str] | None = None,
    note: str = "",
) -> Table:
    """The three numbers of each value: of one result in `VALUE_COLUMNS`, of several in a cell each.

    `shown`: the values of each result, by name; `describe`: text of a further column, the meaning of a value.
    """
    rows, bench = [], benchmark(results[0].benchmark)
    for value_name in dict.fromkeys(name for values in shown for name in values):
        cells = [value_name, *([describe(value_name)] if describe else [])]
        value_rows = [
            numbers_of(of, each[value_name]) if value_name in each else None
            for of, each in zip(results, shown, strict=True)
        ]
        if len(results) == 1 and value_rows[0] is not None:
            ideal = bench.ideal(value_name, results[0].standard)
            better = way(bench, ideal, is_score=value_name in results[0].scored.shown)
            cells += [*value_cells(value_rows[0], better), value_rows[0].missing_text]
        else:
            cells += ["not run" if three is None else three.cell_text for three in value_rows]
        rows.append(cells)
    columns = ["name", *(["what it is"] if describe else [])]
    columns += [*VALUE_COLUMNS, "note"] if len(results) == 1 else model_names(results)
    if len(results) == 1 and not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return Table(columns, rows, heading, note, name)


def bare_table(heading: str, values: Mapping[str, Value], meanings: Mapping[str, str]) -> Table:
    """The numbers of values that belong to no result; `meanings`: words below some of them."""
    rows = [
        (name, *value_cells(three, ""), meanings.get(name, ""), three.missing_text)
        for name, value in values.items()
        if (three := three_numbers(value, None, digits)).value is not None
    ]
    lacking = (f"{name}: {value.reason}." for name, value in values.items() if value.value is None)
    return Table(("name", *VALUE_COLUMNS, *TEXTS), rows, heading, " ".join(lacking))


def results_latex(results: Sequence[Result], names: Collection[str] = ()) -> str:
    """Values of one result, or of several of one benchmark, as a table; its caption names what was not run.

    Without `names` of scores and raw values, the first values of the benchmark.
    """
    shown = [named(result, names) if names else first_values(result) for result in results]
    run = {name for values in shown for name, value in values.items() if value.state != "not_run"}
    lacking = list(dict.fromkeys(name for values in shown for name in values if name not in run))
    notes = [f"Not run: {', '.join(lacking)}."] if lacking else []
    notes += named_lines(results, no_rank)
    values_run = [{name: value for name, value in values.items() if name in run} for values in shown]
    return value_table(results[0].benchmark, caption(results), results, values_run, note=" ".join(notes)).to_latex()


def named_lines(results: Sequence[Result], lines: Callable[[Result], Sequence[str]]) -> list[str]:
    """The lines of each result; of several results each line begins with its model."""
    models = zip(model_names(results), results, strict=True)
    return [f"{name}: {line}" if len(results) > 1 else line for name, result in models for line in lines(result)]


def caption(results: Sequence[Result]) -> str:
    """Contents, rules and interval methods of a table or figure."""
    first = results[0]
    title = benchmark(first.benchmark).title
    of_model = f" of {first.meta['model']}" if len(results) == 1 and first.meta.get("model") != "not stated" else ""
    about = [
        f"standard {first.standard}",
        f"dataset revision {first.signature.get('dataset_revision', 'not stated')}",
        f"fairspace {first.signature.get('fairspace', '')}".strip(),
    ]
    text = f"{title}{of_model} ({', '.join(about)}): values with 95 % intervals"
    if drawn := first.signature.get("resamples"):
        text += f" from {drawn.partition(',')[0]} bootstrap replicates"
    marks = dict.fromkeys(mark for result in results for mark in limits_of(result))
    return plain(". ".join([text, *(mark[0].upper() + mark[1:] for mark in marks)]) + ".")


def model_names(results: Sequence[Result]) -> list[str]:
    """A unique column name for each result."""
    names = [str(result.meta.get("model", "not stated")) for result in results]
    return [f"{name} ({place})" if names.count(name) > 1 else name for place, name in enumerate(names, 1)]
