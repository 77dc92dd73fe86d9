"""Words for pages and files: our Markdown, numbers, states and evidence."""

import re
from collections.abc import Iterable
from functools import lru_cache

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from fairspace.submissions.benchmarks.published import COMPUTED
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.three_numbers import lacking
from fairspace.submissions.show.table import shortened as shortened
from fairspace.submissions.values import Value

_MARKDOWN = MarkdownIt("commonmark").enable("table")
_ARXIV = re.compile(r"arXiv:(\d{4}\.\d{4,5})")


def linked(text: str) -> Markup:
    """A text, escaped unless it is HTML, whose arXiv numbers are links."""
    return Markup(_ARXIV.sub(r'<a href="https://arxiv.org/abs/\1">\g<0></a>', str(escape(text))))  # noqa: S704 escaped


@lru_cache(256)
def prose(text: str) -> Markup:
    """Markdown of this project as HTML; never for submitted text."""
    return Markup(_MARKDOWN.render(text))  # noqa: S704 our own text


def printed_digits(printed: str) -> int:
    """Decimals of a printed number in the unit of the scorer: a printed percentage is a share."""
    decimals = len(printed.removesuffix("%").strip().partition(".")[2])
    return decimals + 2 if printed.endswith("%") else decimals


def shown(value: Value, digits: int = 4) -> str:
    """A value with its printed digits in the unit of the scorer, or its number; '–' without one."""
    if value.value is None:
        return "–"
    printed = value.evidence.get("printed")
    if isinstance(printed, str) and not printed.endswith("%"):
        return plain(printed).replace("-", "\N{MINUS SIGN}")
    if isinstance(printed, str):
        below = printed.startswith("<")
        share = float(printed.strip("<% ")) / 100 if below else value.value
        return ("<" if below else "") + number(share, printed_digits(printed))
    return number(value.value, digits if abs(value.value) < 1000 else 1)


EVIDENCE = {
    "published": "from a paper",
    "self-reported": "self-reported labels or judge",
    "recomputed": "scored here",
    "rerun": "rerun by maintainers",
    "baseline": "baseline",
}
"""Mark of a row -> the evidence for its figures (`Row.visibility`, or that it is a baseline), in page, API and file."""
_NAMES = {words: name for name, words in EVIDENCE.items()}


def is_computed(value: Value | None, published: bool) -> bool:
    """Whether the number of a printed row is computed rather than printed."""
    return published and value is not None and value.value is not None and "printed" not in value.evidence


def value_text(value: Value | None, digits: int = 2, scale: float = 1.0, published: bool = False) -> str:
    """A value times `scale` with its bounds, at most to the printed decimals, or its state in words."""
    if value is None or value.value is None:
        return lacking(value, published)
    printed = value.evidence.get("printed")
    if isinstance(printed, str):
        digits = min(digits, printed_digits(printed))
    text = number(scale * value.value, digits)
    if value.low is None or value.high is None:
        return text
    low, high = number(scale * value.low, digits), number(scale * value.high, digits)
    return text if low == high else f"{text} [{low}, {high}]"


def provenance_of(row: Row) -> str:
    """The evidence of a row's figures, as a key of `EVIDENCE`."""
    return "baseline" if row.provenance == "baseline" else _NAMES[row.visibility]


def visibility(row: Row) -> str:
    """The evidence of a row's figures, in the words of pages."""
    return EVIDENCE[provenance_of(row)]


def behind(row: Row, values: Iterable[Value | None]) -> str:
    """The evidence of some values of a row: as `visibility`, but a paper's row says which numbers are printed."""
    published = row.provenance == "published"
    with_number = [value for value in values if value is not None and value.value is not None]
    computed = [value.name for value in with_number if is_computed(value, published)]
    if not computed:
        return "printed in a paper" if published and with_number else visibility(row)
    return COMPUTED if len(computed) == len(with_number) else f"printed in a paper; {COMPUTED}: {', '.join(computed)}"


def row_address(benchmark: str, entry: str, standard: str = "", rest: str = "") -> str:
    """The address of a row's page under a standard, by default the benchmark's, or of what is below it (`rest`)."""
    under = f"/under/{standard}" if standard not in ("", find_benchmark(benchmark).default) else ""
    return f"/model/{benchmark}/{entry}{under}{rest}"
