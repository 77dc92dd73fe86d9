"""The fields of a board's row: type, meaning and reader, shared by the page, downloads, the API and the command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from fairspace.submissions.results.row import Provenance, Row, RowClass
from fairspace.submissions.results.tiers import why_no_tier


@dataclass(frozen=True)
class RowField:
    """One field of a row, with its type as JSON data, and its column header on the board's page.

    `about`: meaning, where the name does not say it; `read`: reader, by default of the row's attribute of this name.
    """

    name: str
    type: Any
    about: str = ""
    read: Callable[[Row], Any] | None = None
    header: str = ""

    def of(self, row: Row) -> Any:
        """The value of a row as JSON data; its text is untrusted."""
        value = getattr(row, self.name) if self.read is None else self.read(row)
        if isinstance(value, tuple):
            return list(value)
        return dict(value) if isinstance(value, Mapping) else value


def _end_of_ranks(end: int) -> Callable[[Row], int | None]:
    return lambda row: None if row.rank_range is None else row.rank_range[end]


def _remarks(row: Row) -> list[str]:
    return [*row.remarks, *(f"{note.score}: {note.text} ({note.erratum})" for note in row.footnotes)]


_FIELDS = (
    RowField("entry", str, "unique on its board"),
    RowField("rank", int | None, "1 is best; null if unranked, or a baseline"),
    RowField("model", str),
    RowField("organisation", str, "who made the model; for a row that was scored here, as its submitter states"),
    RowField("provenance", Provenance),
    RowField("submitter", str, "the account that handed it in"),
    RowField("owner", str, "who owns the model on the Hub, if the submitter belongs to it", header="Proved owner"),
    RowField("attempt", int, "its number among the attempts at its model, from 1; 0 if nobody handed it in"),
    RowField("account_attempt", int, "its number among the attempts of its account on this benchmark"),
    RowField("claim", str, "whose model it is: its proved owner, or who claims that these are its answers"),
    RowField("copy_of", str, "the bundled baselines that its answers are of, in words; '' for a model's own"),
    RowField(
        "row_class",
        RowClass,
        "what stands behind its numbers; ranks are counted within a class. `printed` is a paper's row",
    ),
    RowField(
        "visibility",
        str,
        "the evidence for the figures. `published`: from a paper; the evidence of a score has `printed`, or says that "
        "it is computed here and has in `paper_prints` what the paper prints, if anything",
    ),
    RowField("source", str, header="Source"),
    RowField("cohort", str, "rows are ranked within their cohort"),
    RowField("protocol", str, "how its values were measured", header="Protocol"),
    RowField("group", str, "rows are ranked within their class, cohort and this group of protocols"),
    RowField("ranked", float | None, "the number that decides the rank: the worst case"),
    RowField("unranked", list[str], "all reasons why there is no rank"),
    RowField("remarks", list[str], "what marks a run of a part, and footnotes on printed numbers", read=_remarks),
    RowField("labels", dict[str, str]),
    RowField("tier", int | None, "1 contains the best and all that are not significantly worse; null for none"),
    RowField("rank_range", list[int] | None, "the best and the worst rank that the row could have"),
    RowField("rank_best", int | None, read=_end_of_ranks(0)),
    RowField("rank_worst", int | None, read=_end_of_ranks(1)),
    RowField("no_tier", str, "why there is no tier, '' if there is one", why_no_tier),
    RowField("chances", dict[str, float], "probability of each label, and of each score to reach its threshold"),
    RowField("footnotes", list[dict[str, Any]], read=lambda row: [vars(footnote) for footnote in row.footnotes]),
    RowField("licence", str, "", attrgetter("facts.licence"), "Licence"),
    RowField("architecture", str, "", attrgetter("facts.architecture"), "Architecture"),
    RowField("parameters", float | None, "in billions", attrgetter("facts.parameters"), "Parameters, 10⁹"),
    RowField("open_weights", bool | None, "", attrgetter("facts.open_weights"), "Open weights"),
    RowField("tasks", list[str], "", attrgetter("facts.tasks"), "Tasks run"),
)
ROW_FIELDS: Mapping[str, RowField] = {field.name: field for field in _FIELDS}
