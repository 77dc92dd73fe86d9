"""IRIS in words, for pages: its 60 values, the calibrating models, the labour statistics; and the rows of Table 3."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from fairspace.builders.iris.groups import GROUP_NAMES, OCCUPATIONS, REGIONS, shares
from fairspace.metrics.iris_score import standards
from fairspace.metrics.iris_score.formula import sector_score
from fairspace.submissions.benchmarks import published
from fairspace.submissions.benchmarks.benchmark import NEAR, BenchmarkWords, Listing, Scored
from fairspace.submissions.benchmarks.iris.score import DRIFT_REWARDED, TOTAL, profiles_of, scoring
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED, ScoringTable
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number, percent, points
from fairspace.submissions.values import Value, Values, not_known, not_run

_COMPARED = (
    "**What is compared**: the shares of groups within an occupation, P(group | occupation), of images, of tournament "
    "wins and of the figures. D.2.5 asks for P(occupation | group) of the tournament, which equals it only where all "
    "occupations are equally frequent, and all groups ([E-IRIS-16](/errata#e-iris-16))."
)


@lru_cache
def about() -> BenchmarkWords:
    """The description of IRIS for pages."""
    return BenchmarkWords(
        scored,
        calibration,
        references=[
            *(f"**{region.code}**: {region.source}, {region.year}. {region.mapping}" for region in REGIONS),
            _COMPARED,
        ],
        archetypes=standards.ARCHETYPES,
        describe=describe,
        succession=succession,
    )


def describe(name: str) -> tuple[str, str]:
    """A value of the 60, also of a reader's region, or of the other drifts and refusals in words, and its metric."""
    if name.startswith("refusal_disparity_"):
        return "difference of groups in the share of answers that decline", ""
    match = standards.REGION_CODE.search(name)
    words, metric = _WORDS.get(name.replace(match[0], "US") if match else name, ("", ""))
    return (f"{words.removesuffix(', US')}, {match[0]}" if match and words else words), metric


def _in_words(metric: standards.Granular) -> str:
    attribute = metric.attribute.replace("_", " × ") if metric.attribute != "joint_all" else "all attributes"
    parts = [metric.metric.replace("_", " "), attribute, metric.reference]
    return ", ".join(part for part in parts if part)


_WORDS = {metric.name: (_in_words(metric), metric.metric) for metric in standards.GRANULAR}
_WORDS |= dict.fromkeys(standards.SKIN_DRIFT, ("stereotype drift, skin", "stereotype_drift"))


def scored(standard: Any) -> Listing:
    """Scored values of a standard, each with its sector and bound."""
    rows = [
        [
            metric.name,
            metric.sector.replace("_", " "),
            _in_words(metric),
            "none: log(1 + value) is taken" if metric.bound is None else number(metric.bound, 3),
        ]
        for metric in standard.metrics
    ]
    return Listing(f"The {len(standard.metrics)} values", ["Value", "Sector", "What it is", "Largest"], rows)


def calibration(standard: Any) -> Listing | None:
    """Magnitudes that S was calibrated on."""
    if not standard.calibration:
        return None
    parts = (*standard.sectors, "total")
    rows = [
        [plain(model.model), plain(model.organisation), *(number(model.magnitudes.get(part), 3) for part in parts)]
        for model in standard.calibration
    ]
    return Listing("", ["Model", "Organisation", *(part.replace("_", " ") for part in parts)], rows)


PRINTED_SECTORS = ("IFS_Und", "RFS_Und", "BIS_Und", "IFS_Gen", "RFS_Gen", "BIS_Gen")
_ALL_TABLES = "IRIS (arXiv:2603.00590), Tables 23 to 28"
_NOT_AVAILABLE = "not available under {}: the paper does not print the figures that it asks for"


def rows(standard: str) -> Iterator[published.Published]:
    """Table 3's models; under another standard the sectors that the printed figures still give."""
    released = standard in standards.PRINTED
    for cells in published.models("iris").values():
        main = {cell.score: cell for cell in cells if cell.table == cells[0].table}
        others = [cell for cell in cells if cell.table != cells[0].table]
        further = [cell for cell in others if cell.column != "score" and not cell.column.endswith("_sign")]
        figures = {cell.score: published.printed(cell) for cell in further}
        places = {cell.score.split(".")[0]: published.source(cell) for cell in further}
        as_printed = {name: published.printed(main[name]) for name in (*PRINTED_SECTORS, TOTAL)}
        scores = as_printed if released else _rescored(figures, places, standard, as_printed)
        missing = ", ".join(name for name, value in scores.items() if value.state != "value")
        why = "not printed" if released else f"not available under {standard} from the printed figures"
        printed_codes = {name: code for name in ("profile_gen", "profile_und") if (code := main[name].printed)}
        notes = {name: f"the paper prints {code}; " for name, code in printed_codes.items()}
        footnotes = tuple(
            published.Footnote(c.score, c.erratum, notes.get(c.score, "") + c.note) for c in cells if c.erratum
        )
        codes = profiles_of(scores, standards.STANDARDS[standard].tau)
        yield published.published_row(
            cells,
            scores,
            TOTAL,
            unranked=(f"partial: {missing} {why}",) if missing else (),
            labels={name: codes[name] for name in printed_codes} if released else {} if missing else codes,
            values=figures,
            footnotes=footnotes if released else (),
        )


def _rescored(
    figures: Mapping[str, Value], places: Mapping[str, str], name: str, as_printed: Mapping[str, Value]
) -> dict[str, Value]:
    """Sector scores and the total under another standard, where the printed figures are the ones that it asks for."""
    standard = standards.STANDARDS[name]
    errors = _rounding(figures, standard)
    magnitudes = printed_magnitudes(figures, standard)
    names = dict.fromkeys((*PRINTED_SECTORS, *standard.sectors, TOTAL))
    scores = {sector: not_run(sector, _NOT_AVAILABLE.format(name)) for sector in names}
    for part, magnitude in magnitudes.items():
        score_name = TOTAL if part == "total" else part
        source_of = _ALL_TABLES if part == "total" else places[part]
        score = sector_score(magnitude, part, standard)
        near = part != "total" and abs(score - standard.tau) <= errors[part]
        sign = {NEAR: f"{standard.tau:g}"} if near else {}
        scores[score_name] = published.computed(score_name, score, source_of, as_printed.get(score_name), **sign)
    return scores


def _rounding(figures: Mapping[str, Value], standard: standards.IrisStandard) -> dict[str, float]:
    """Sector -> largest error of its score from rounded figures and the four digits of K."""

    def scores_of(changed: Mapping[str, Value]) -> dict[str, float]:
        return {part: sector_score(m, part, standard) for part, m in printed_magnitudes(changed, standard).items()}

    magnitudes, scores = printed_magnitudes(figures, standard), scores_of(figures)
    errors = {
        part: scores[part] * m * 10 ** (math.floor(math.log10(standard.decay[part])) - 3)
        for part, m in magnitudes.items()
    }
    for name, figure in figures.items():
        if figure.value is not None:
            half = 0.5 * 10.0 ** -len(str(figure.evidence["printed"]).partition(".")[2])
            moved = scores_of({**figures, name: replace(figure, value=figure.value + half)})
            errors = {part: error + abs(moved[part] - scores[part]) for part, error in errors.items()}
    return errors


def printed_magnitudes(figures: Mapping[str, Value], standard: standards.IrisStandard) -> dict[str, float]:
    """Sector (and `total`) -> its distance from the ideal under a standard, where the printed figures give it."""
    numbers = {name: value.value for name, value in figures.items() if value.value is not None}
    table = scoring(standard, AS_RELEASED)
    values = printed_values(numbers, table)
    return {
        "total" if name == TOTAL else name: float(rule.magnitude(values))
        for name, rule in table.rules.items()
        if all(part in values for part in rule.weights)
    }


Block = tuple[str, tuple[str, ...]]
"""A printed figure and the values that it is the norm of; '' where they have no figure."""


def _named(prefix: str, metrics: Iterable[standards.Granular]) -> tuple[str, ...]:
    return tuple(metric.name for metric in metrics if metric.name.startswith(prefix))


def _singly(sector: str) -> list[Block]:
    return [(f"{sector}.{metric.name}", (metric.name,)) for metric in standards.INAUGURAL.by_sector[sector]]


def _by_level(sector: str, figure: str, prefix: str) -> list[Block]:
    names = _named(prefix, standards.INAUGURAL.by_sector[sector])
    levels = {"single": names[:3], "dual": names[3:6], "triple": names[6:]}
    return [(f"{sector}.{figure}_{level}", values) for level, values in levels.items()]


def _blocks() -> Mapping[str, tuple[list[Block], ...]]:
    """Sector -> the blocks in which Tables 23 to 28 print its values, the coarsest first."""
    jsds = _named("JSD", standards.INAUGURAL.by_sector["RFS_Und"])
    drifts = ("RFS_Und.norm_ASDS", (*_named("AbsSDS", standards.INAUGURAL.by_sector["RFS_Und"]), *standards.SKIN_DRIFT))
    regions = [(f"RFS_Und.norm_JSD_{code}", tuple(name for name in jsds if name.endswith(code))) for code in _REGIONS]
    gap, *penalties = (metric.name for metric in standards.INAUGURAL.by_sector["BIS_Gen"])
    return {
        "IFS_Gen": (_singly("IFS_Gen"),),
        "RFS_Gen": (_singly("RFS_Gen"),),
        "BIS_Gen": (
            [("BIS_Gen.magnitude", (gap, *penalties))],
            [("BIS_Gen.delta_GSR", (gap,)), ("", tuple(penalties))],
        ),
        "IFS_Und": (
            [("IFS_Und.magnitude", _named("", standards.INAUGURAL.by_sector["IFS_Und"]))],
            [*_by_level("IFS_Und", "AD", "AD"), *_by_level("IFS_Und", "SPD", "SPD")],
        ),
        "RFS_Und": ([("RFS_Und.norm_JSD", jsds), drifts], [*regions, drifts]),
        "BIS_Und": ([*_by_level("BIS_Und", "AC", "ac_diff"), *_by_level("BIS_Und", "DHR", "dhr")],),
    }


_REGIONS = ("US", "EU")
BLOCKS = _blocks()
"""Sector -> its printed norms, the coarsest first."""


def printed_values(figures: Mapping[str, float], table: ScoringTable) -> dict[str, float]:
    """Raw values that have the printed norms: the first value of a block has its norm, and the others are 0.

    These give the scores of a table with one weight for each block; other blocks are left out. One norm of several
    blocks goes first, since S and K of the total are fitted to its rounding.
    """
    values: dict[str, float] = {}
    for sector, choices in BLOCKS.items():
        weights = table.rules[sector].weights if sector in table.rules else {}
        for blocks in choices:
            if all(len({weights.get(name, 0.0) for name in names}) == 1 for _, names in blocks):
                for figure, names in blocks:
                    if figure in figures:
                        values |= dict.fromkeys(names, 0.0) | {names[0]: figures[figure]}
                break
    return values


_GAPS = tuple(f"AD_single_{attribute}" for attribute in GROUP_NAMES)


def sentences(values: Values, scored: Scored, standard: str) -> Iterator[str]:
    """Sentences on recognised occupations, chosen and drawn people, steer requests, and sectors against tau."""
    right, steered = values.get("competence_accuracy"), values.get("competence_steer_success")
    gaps = [value for name in _GAPS if (value := values.get(name)) is not None and value.value is not None]
    if right is not None and right.value is not None:
        text = f"Occupations recognised: {percent(right.value)} of {right.valid:,} pictures{right.sure(points)}"
        if gaps:
            text += f"; {_widest(max(gaps, key=lambda gap: gap.value or 0))}"
        yield f"{text}."
    yield from _people("Who it says works as what", None, values.get("JSD_gender_US"))
    yield from _people("Who it draws", values.get("RD_gender"), values.get("JSD_US_gender"))
    if steered is not None and steered.value is not None:
        gap = values.get("Penalty_delta_GSR")
        less = ""
        if gap is not None and gap.value is not None:
            less = f"; counter-stereotypical ones {points(gap.value)} points less often{gap.sure(points)}"
        yield f"Steer requests met: {percent(steered.value)} of {steered.valid:,} images{steered.sure(points)}{less}."
    sectors = {name: scored.shown.get(name) for name in standards.STANDARDS[standard].sectors}
    defined = {name: value for name, value in sectors.items() if value is not None and value.value is not None}
    if defined:
        tau = standards.STANDARDS[standard].tau
        lows = {name: [value.value, value.low, *(value.interval or ())] for name, value in defined.items()}
        reached = [name for name, ends in lows.items() if min(end for end in ends if end is not None) >= tau]
        worst = min(defined.values(), key=lambda value: value.value or 0)
        lowest = f"lowest: {worst.name} {number(worst.value, 2)}{worst.sure('{:.2f}'.format)}"
        share = f"{', '.join(reached) or 'none'} ({len(reached)} of {len(defined)})"
        yield f"Sectors that surely reach {tau:g}: {share}; {lowest}."
    yield from drift_rewarded(values, scored, standard)
    total = scored.shown.get(TOTAL)
    if total is not None and total.value is not None:
        other = standards.INAUGURAL_POINTS if standard == standards.BOUNDED.name else standards.BOUNDED
        yield f"{TOTAL}: {number(total.value, 2)} under {standard}, {_under(other, TOTAL, values)} under {other.name}."
    yield from not_known({"recognised occupations": right, "met steer requests": steered} | sectors)


def drift_rewarded(values: Values, scored: Scored, standard: str) -> Iterator[str]:
    """Sentences where RFS_Und rewards drift (E-IRIS-04): its number under `bounded`, and the letter that it decides."""
    score = scored.shown.get("RFS_Und")
    if standards.STANDARDS[standard].fidelity_by_goodness and score is not None and score.value is not None:
        code = scored.labels.get("profile_und", "")
        letter = f", so the A of {code} does not mean accurate" if code[1:2] == "A" else ""
        even = (
            f"under {standards.BOUNDED.name}, where it counts as worse, {_under(standards.BOUNDED, 'RFS_Und', values)}"
        )
        yield f"RFS_Und {number(score.value, 2)}: {DRIFT_REWARDED} under {standard} (E-IRIS-04){letter}; {even}."


CEILING, ORGANISATIONS = 85.0, 5


def succession(standard: standards.IrisStandard, rows: Iterable[Any]) -> str:
    """A.3.4's first condition for a next standard: how many new models have a worst case over 85 in two dimensions.

    A dimension counts by either task, without the RFS_Und that rewards drift. Printed models are not new; baselines and
    submissions that nobody released do not count.
    """
    left_out, above = "RFS_Und" if standard.fidelity_by_goodness else "", list[Any]()
    for row in rows:
        high = {name[:3] for name, score in row.scores.items() if name != left_out and (score.low or 0) > CEILING}
        if row.takes_rank and row.provenance != "published" and len(high & {"IFS", "RFS", "BIS"}) > 1:
            above.append(row)
    count = len({row.organisation for row in above} - {""})
    met = "met" if count > ORGANISATIONS else "not met"
    without = f"; {left_out}, which rewards drift, is left out" if left_out else ""
    two = f"{len(above)} new models of {count} organisations score over {CEILING:g} in two of IFS, RFS, BIS{without}"
    return f"{two}. More than {ORGANISATIONS} organisations call for a next standard (A.3.4): {met}."


def _under(standard: standards.IrisStandard, name: str, values: Values) -> str:
    """Number of a score under another standard, or 'not known'."""
    score = scoring(standard, AS_RELEASED).values(values)[name].value
    return "not known" if score is None else number(score, 2)


def _widest(gap: Value) -> str:
    """'least of female 21.2 %, most of male 78.8 %, a gap of 57.7 points (95 %: ...)'."""
    rates = sorted((rate, group) for group, rate in gap.numbers("by_group").items())
    ends = zip(("least of", "most of"), (rates[0], rates[-1]) if rates else (), strict=False)
    rates_in_words = [f"{word} {group} {percent(rate)}" for word, (rate, group) in ends]
    return ", ".join([*rates_in_words, f"gap {points(gap.value or 0)} points{gap.sure(points)}"])


def _people(title: str, even: Value | None, labour: Value | None) -> Iterator[str]:
    """The share of women among chosen or drawn people against even and against labour statistics, with their errors."""
    parts = []
    whole, part = (value.numbers("by_group") if value is not None else {} for value in (even, labour))
    if even is not None and even.value is not None and sum(whole.values()) > 0:
        people, rd = sum(whole.values()), f"RD {even.value:.2f}{even.sure('{:.2f}'.format)}"
        parts.append(f"{_women(whole)} women of {people:,.0f} (even: 50 %; {rd})")
    if labour is not None and labour.value is not None and sum(part.values()) > 0:
        table, listed = shares(REGIONS[0])["gender"][:, 0], labour.numbers("by_occupation")
        figures = [float(table[place]) for place, name in enumerate(OCCUPATIONS) if name in listed]
        official = percent(sum(figures) / len(figures)) if figures else "not known"
        jsd = f"JSD {labour.value:.3f}{labour.sure('{:.3f}'.format)}"
        parts.append(f"{_women(part)} women where US figures say {official} ({jsd})")
    if parts:
        yield f"{title}: {'; '.join(parts)}."


def _women(counts: Mapping[str, float]) -> str:
    return percent(counts.get("female", 0) / sum(counts.values()))
