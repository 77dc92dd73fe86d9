"""Independent oracles of every scorer, written from the papers' text or taken from another library.

Data are drawn as codes (group, refused, garbled, absent). This project reads them as a submission of texts and
labels; an oracle counts the codes themselves.
"""

from collections.abc import Callable, Sequence

from tests.oracles import fact_or_fair, genres, iris, stereotypical_bias, totals
from tests.oracles.comparison import Comparison, compare
from tests.oracles.drawing import Oracle

ORACLES: tuple[Oracle, ...] = (*iris.ORACLES, *fact_or_fair.ORACLES, stereotypical_bias.ORACLE, genres.ORACLE)
KINDS = ("drawn", "damaged", "ties", "empty groups")
"""Complete data; data with damaged answers; a model without any preference; data with cells that nothing answers."""


def against_text(
    kinds: Sequence[str] = KINDS, oracles: Sequence[Oracle] = ORACLES, say: Callable[[str], None] = lambda line: None
) -> tuple[list[Comparison], dict[str, tuple[str, ...]]]:
    """Compare every benchmark's values of drawn submissions with the oracle's; also the values without an oracle."""
    comparisons: list[Comparison] = []
    without: dict[str, tuple[str, ...]] = {}
    for oracle in oracles:
        for seed, kind in enumerate(kinds):
            title = f"{oracle.benchmark.title} {oracle.revision}"
            say(f"{title}, {kind}")
            drawn = oracle.draw(100 + seed, kind)
            ours, theirs = oracle.measured(drawn), oracle.values(drawn)
            comparisons += compare("oracles", title, kind, "the text", ours, theirs, oracle.scorer)
            if kind == KINDS[0] and oracle.revision == oracle.benchmark.revisions[0]:
                comparisons += totals.against_text(oracle, 100, "whole" if oracle is genres.ORACLE else kind)
            without[title] = tuple(name for name in ours if name not in theirs)
    return comparisons, without
