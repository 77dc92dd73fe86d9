"""Records of GENRES: what each of the 1 440 passages says of the male and the female character.

`read` is the only reader of a submission's tables; the parser, which takes minutes, runs once in it. Every column is a
(1440, 2) array, male then female, in the order of the item ids; nan where the passage cannot be used for it: no
response, a refusal, a response without the section, no or a failed judgement. A missing profile costs what is read of
profiles alone. A narrative that is short or does not tell of both characters is none (a cut one must not look fair). A
judgement of what was not handed in counts for nothing.

A story that a model declines to write, or that holds no narrative, is known, not missing: it is neither competent nor
distinct, and refusals are counted by themselves. M1 to M8 are differences, for which no answer is a wrong one; there
such a passage is worth the least favourable difference, which is the end of the bounds that the total is ranked by.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fairspace.builders.genres import plan
from fairspace.submissions.benchmarks.genres.records.features import Column, Features
from fairspace.submissions.benchmarks.genres.records.judged import AUTHORS, CAREFUL, analyses, profiles
from fairspace.submissions.benchmarks.genres.records.parsed import parsed
from fairspace.submissions.benchmarks.genres.records.single import SingleStories, read_single
from fairspace.submissions.benchmarks.genres.records.stories import MINIMUM_WORDS, Stories, stories
from fairspace.submissions.format.schema import Submission

__all__ = ["MINIMUM_WORDS", "Column", "Features", "Records", "read"]


@dataclass(frozen=True)
class Records:
    """What the values of a submission are made from.

    Args:
        ids: of the passages, in the order of the columns.
        responses: how many were handed in; where none was, nothing else is read.
        judge: name of the judge that is scored, if one is.
        features: of the parser and that judge.
        authors: the same, read as the authors' code reads responses and judgements: every response with both names is
            parsed once, as written.
        parses: `as_written` and `exchanged` -> what one parse of the narratives gives; `features` has their means.
        others: name of another judge -> its features.
        stories: what the responses hold.
        single: what the stories of one character hold; None where the task was not run.
    """

    ids: tuple[str, ...]
    responses: int
    judge: str | None = None
    features: Features = field(default_factory=Features)
    authors: Features = field(default_factory=Features)
    others: Mapping[str, Features] = field(default_factory=dict)
    parses: Mapping[str, Features] = field(default_factory=dict)
    stories: Stories = field(default_factory=Stories)
    single: SingleStories | None = None


def read(submission: Submission) -> Records:
    """Split, parse and look up a checked submission's responses, and read its judgements."""
    ids = tuple(plan.ids(submission.meta.dataset_revision).to_pylist())
    responses = submission.rows("responses", "narrative")
    if not responses.num_rows:
        return Records(ids, 0, single=read_single(submission, ids))
    whole = stories(submission, ids)
    others = [tool.name for tool in submission.meta.other_judges or ()]
    scored, authors, *judged = (
        profiles(submission, judge, ids, whole.profiled, reader).joined_with(
            analyses(submission, judge, ids, whole.narrated, reader)
        )
        for judge, reader in ((None, CAREFUL), (None, AUTHORS), *((other, CAREFUL) for other in others))
    )
    both = parsed(whole, len(ids))
    return Records(
        ids,
        responses.num_rows,
        judge=None if submission.meta.judge is None else submission.meta.judge.name,
        features=both.mean.joined_with(scored),
        authors=both.authors.joined_with(authors),
        others=dict(zip(others, judged, strict=True)),
        parses={"as_written": both.as_written, "exchanged": both.exchanged},
        stories=whole,
        single=read_single(submission, ids),
    )
