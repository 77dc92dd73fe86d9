"""An IRIS standard as the Python file that holds it: what `fairspace standard propose --out` writes for review.

Names of models are other people's text: every text becomes a literal of ASCII signs, so a file says what it shows.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from fairspace.metrics.iris_score.granular import GRANULAR, Granular
from fairspace.metrics.iris_score.standard import Calibrated
from fairspace.submissions.standards.proposal import Fit, Proposal

_STEP = "    "
_WIDTH = 100


def source(proposal: Proposal) -> str:
    """The file `standard_<name>.py`, which `ruff format` need not change but for the length of foreign names."""
    standard = proposal.standard
    same = standard.metrics == GRANULAR
    kinds = "GRANULAR" if standard.metrics[: len(GRANULAR)] == GRANULAR else ""
    needed = [kinds, "" if same else "Granular"]
    about = _wrapped(f'"""{_one_line(standard.why)} A draft: a proposal like {proposal.like}.')
    fits = "\n".join(_fit(fit) for fit in proposal.fits)
    head = f'{about}\n\nThe cohort\'s medians before and after, and upper over lower quartile:\n\n{fits}\n"""\n'
    imports = (
        f"from .granular import {', '.join(filter(None, needed))}\nfrom .standard import Calibrated, IrisStandard\n"
    )
    lines = ((field.name, getattr(standard, field.name)) for field in fields(standard))
    body = "".join(f"{_STEP}{name}={_field(name, value)},\n" for name, value in lines)
    return f"{head}\n{imports}\n{standard.name.upper()} = IrisStandard(\n{body})\n"


def _fit(fit: Fit) -> str:
    return (
        f"- {fit.part}: {fit.rows} models, {fit.before:.2f} before, {fit.after:.2f} after, quartiles {fit.spread:.2f}"
    )


def _one_line(text: str) -> str:
    return _text(" ".join(text.split()))[1:-1].replace('\\"', "'")


def _wrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(text, 118, break_long_words=False))


def _field(name: str, value: Any) -> str:
    if name == "metrics":
        return _metrics(value)
    if name == "calibration":
        return _block("()", (_calibrated(model) for model in value))
    if isinstance(value, str) and len(value) > _WIDTH - len(name):
        return _block("()", (_text(part) for part in _pieces(value)), end="")
    if isinstance(value, Mapping) and value:
        return _block("{}", (f"{_text(key)}: {_literal(part)}" for key, part in value.items()))
    if isinstance(value, tuple) and value:
        return _block("()", map(_literal, value))
    return _literal(value)


def _pieces(text: str) -> list[str]:
    parts = textwrap.wrap(text, _WIDTH, drop_whitespace=False, break_on_hyphens=False)
    return parts or [""]


def _metrics(metrics: tuple[Granular, ...]) -> str:
    if metrics == GRANULAR:
        return "GRANULAR"
    shared = metrics[: len(GRANULAR)] == GRANULAR
    further = metrics[len(GRANULAR) :] if shared else metrics
    rows = (f"Granular({', '.join(map(_literal, vars(metric).values()))})" for metric in further)
    return _block("()", [*(["*GRANULAR"] if shared else []), *rows])


def _calibrated(model: Calibrated) -> str:
    texts = [_text(part) for part in (model.entry, model.model, model.organisation, model.values_sha256)]
    inner = [*texts, _block("{}", (f"{_text(k)}: {v!r}" for k, v in model.magnitudes.items()), depth=3)]
    return "Calibrated" + _block("()", inner, depth=2)


def _block(brackets: str, lines: Iterable[str], end: str = ",", depth: int = 1) -> str:
    """Lines within brackets, one step deeper than `depth`."""
    inner = "".join(f"{_STEP * (depth + 1)}{line}{end}\n" for line in lines)
    return f"{brackets[0]}\n{inner}{_STEP * depth}{brackets[1]}"


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(key)}: {_literal(part)}" for key, part in value.items()) + "}"
    if isinstance(value, tuple):
        return "(" + "".join(f"{_literal(part)}, " for part in value).rstrip(" " if len(value) == 1 else ", ") + ")"
    return repr(value)


def _text(text: str) -> str:
    """A literal in double quotes that holds ASCII signs alone."""
    return '"' + text.encode("unicode_escape").decode("ascii").replace('"', '\\"') + '"'
