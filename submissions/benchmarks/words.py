"""The words of a benchmark, `words.toml` in its folder: titles, question, findings, protocols, cohorts, values.

Front page, boards, reports, the site and README's table of benchmarks are made from them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fairspace.submissions.names import NAMES

FOLDER = Path(__file__).parent
_FIELD = re.compile(r"\{(\w+)(\??)\}")
_GAPS = re.compile(r"(: |, )(?:, )+")
"""Separators between which optional parts of a name are absent."""
TEXT_ONLY = "text only"
"""Signature of a run without images, and the part of its protocol."""
_EVERYWHERE = {TEXT_ONLY: "The model was shown no image."}
_MEND = "CONTRIBUTING.md, *Add a benchmark*, shows such a file"


class Words(BaseModel):
    """The words of one benchmark; texts for pages are Markdown.

    A pattern is a name with fields: `{attribute}` stands for a key of `parts["attribute"]`, `{attribute?}` also for
    nothing, and with `_` before the key. In the pattern's text the same field stands for that part in words.

    Args:
        title: name on pages.
        short: topic, one word; the title if left out.
        question: question that the benchmark answers.
        asked: example of an item.
        best: score of fairness and its best number, on the front page.
        provide: tables of a submission, in words.
        how_to_read, legend: texts above and below the board.
        revisions: dataset revision -> difference from the others.
        protocols: protocol, or a part of its name -> sentence on the measurement; `*` is any further word.
        stimuli: beginning of a protocol -> stimuli where the printed rows answered others; the longest one counts.
        cohorts: label of a row -> title of the cohort that it is ranked in.
        own_plan: sentence on a dataset revision with a plan of its own.
        standards: standard -> what it ranks by and what is best.
        columns: score -> column header.
        parts: field of patterns -> part of a name -> its words.
        values: pattern of scores and raw values -> words.
        metrics: metric in `metrics/` -> pattern of the values that it computes -> words.
        findings: score or raw value -> sentences for the front page, of which the first with all fields known is used.
            Fields: `model`; `value`; `percent`; `size`, the value without its sign; `more` and `less`, whom a
            difference of man less woman favours; `most`, the larger of two shares in percent at this distance from
            even; `asked`, the standard's threshold; means of the evidence, such as `male_emotion`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = Field(min_length=1)
    question: str = Field(min_length=1)
    provide: str = "answers"
    short: str = ""
    asked: str = ""
    best: str = ""
    how_to_read: str = ""
    legend: str = ""
    protocols: Mapping[str, str] = {}
    stimuli: Mapping[str, str] = {}
    cohorts: Mapping[str, str] = {}
    own_plan: str = ""
    standards: Mapping[str, str] = {}
    columns: Mapping[str, str] = {}
    parts: Mapping[str, Mapping[str, str]] = {}
    values: Mapping[str, str] = {}
    metrics: Mapping[str, Mapping[str, str]] = {}
    findings: Mapping[str, list[str]] = {}

    def protocol(self, name: str) -> str:
        """The sentences on a protocol, or on the parts of its name that commas separate; '' if one is unknown."""
        if name in self.protocols:
            return self.protocols[name]
        texts = [{**_EVERYWHERE, **self.protocols}.get(part) or self._further(part) for part in name.split(", ")]
        return " ".join(texts) if all(texts) else ""

    def _further(self, part: str) -> str:
        kind, _, word = part.partition(" ")
        return self.protocols.get(f"{kind} *", "").replace("*", word) if word else ""

    def standard(self, standard: Any) -> str:
        """A sentence on the rank under a standard: that of `standards`, else the first of its `why`."""
        return self.standards.get(standard.name) or str(standard.why).partition(". ")[0]

    def stimuli_of(self, protocol: str) -> str:
        """The stimuli of a protocol, where they are not those of the paper's rows; '' if they are."""
        starts = [start for start in self.stimuli if protocol.startswith(start)]
        return self.stimuli[max(starts, key=len)] if starts else ""

    def value(self, name: str) -> tuple[str, str]:
        """A score or a raw value in words, and the metric that computes it; '' where no pattern fits, or no metric."""
        return self._values(name)

    @cached_property
    def _values(self) -> Callable[[str], tuple[str, str]]:
        return lru_cache(4096)(self._described)

    def _described(self, name: str) -> tuple[str, str]:
        for pattern, fields, text, metric in self._patterns:
            if match := pattern.fullmatch(name):
                words: dict[str, list[str]] = {}
                for field, key in zip(fields, match.groups(), strict=True):
                    words.setdefault(field, []).append("" if key is None else self._parts[field][key.lower()])
                filled = _FIELD.sub(lambda field: words[field[1]].pop(0), text)  # noqa: B023 called at once
                return _GAPS.sub(r"\1", filled).removesuffix(", ").removesuffix(": "), metric
        return "", ""

    @cached_property
    def _parts(self) -> Mapping[str, Mapping[str, str]]:
        return {field: {key.lower(): text for key, text in texts.items()} for field, texts in self.parts.items()}

    @cached_property
    def _patterns(self) -> Sequence[tuple[re.Pattern[str], Sequence[str], str, str]]:
        """Expression of names, the fields of its groups, words, and the metric or ''."""

        def group(field: re.Match[str]) -> str:
            keys = "|".join(sorted(self.parts[field[1]], key=len, reverse=True))
            return f"(?:_({keys}))?" if field[2] else f"({keys})"

        return [
            (re.compile(_FIELD.sub(group, pattern.replace(".", r"\.")), re.IGNORECASE), _fields(pattern), text, metric)
            for metric, pattern, text in self._texts()
        ]

    def _texts(self) -> Iterator[tuple[str, str, str]]:
        """The metric or '', a pattern and its text."""
        for metric, texts in (*self.metrics.items(), ("", self.values)):
            yield from ((metric, pattern, text) for pattern, text in texts.items())

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The title as topic, and parts that are their own words, which the file has as lists."""
        parts = {
            field: {key: key.replace("_", " ") for key in keys} if isinstance(keys, list) else keys
            for field, keys in data.get("parts", {}).items()
        }
        return {"short": data.get("title"), **data, "parts": parts}

    @model_validator(mode="after")
    def _check_fields(self) -> Words:
        for _, pattern, text in self._texts():
            fields = _fields(pattern)
            if unknown := [field for field in fields if field not in self.parts]:
                raise ValueError(f"{pattern!r} has the field {unknown[0]!r}, which is no table of `parts`")
            if sorted(fields) != sorted(_fields(text)):
                raise ValueError(f"{pattern!r} and its text {text!r} differ in their fields")
        return self


@cache
def words_of(benchmark: str) -> Words:
    """The words of a benchmark. ValueError names the file, the key, the rule and the remedy."""
    file = FOLDER / benchmark / "words.toml"
    try:
        return Words.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{file}: {error}. {_MEND}") from error
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'the file'}: {e['msg']}" for e in error.errors())
        raise ValueError(f"{file}: {faults}. {_MEND}") from error


def readme_table(names: Iterable[str] = NAMES) -> str:
    """README's table of some benchmarks, as Markdown."""
    head = "| benchmark | question | what you provide |\n|---|---|---|"
    rows = (f"| **{each.title}** | {each.question} | {each.provide} |" for each in map(words_of, names))
    return "\n".join([head, *rows])


def _fields(pattern: str) -> list[str]:
    return [name for name, _ in _FIELD.findall(pattern)]
