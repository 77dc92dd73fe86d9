"""Pages of raw values and scores: meaning, better direction, range and computing function.

The values are those of a trivial model's submission, so a page lists exactly the names of a result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from fairspace.builders.registry import paper
from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.report.headline import direction

METRICS = Path(__file__).parents[2] / "metrics"
_RANGE = re.compile(r"^## Range\n+(.+?)\n\n|^(Range\b.+?)\n\n", re.MULTILINE | re.DOTALL)
_INTRODUCTION = (
    "The name of a value begins with what is measured. Then come the groups, the task or the part it is over."
)


def metric_range(metric: str) -> str:
    """The range and the ideal of a metric, from its card."""
    match = _RANGE.search((METRICS / metric / "README.md").read_text(encoding="utf-8"))
    if match is None:
        raise ValueError(f"metrics/{metric}/README.md says no range: write a line that begins with 'Range'")
    return match[1] or match[2]


def value_pages() -> dict[str, str]:
    """Path below the site's root -> Markdown: a page for each kind of value, and a page for each benchmark."""
    pages, index = {}, ["# Values and scores", "", _INTRODUCTION, ""]
    for name in NAMES:
        bench = benchmark(name)
        kinds = _kinds(bench)
        index += [f"## {bench.title}", "", "| value | what it is |", "|---|---|"]
        for kind, names in kinds.items():
            path = f"values/{name}/{_slug(names[0])}.md"
            pages[path] = _page(bench, kind, names)
            index += [
                f"| [{', '.join(names[:3])}{' …' if len(names) > 3 else ''}]({path[len('values/') :]}) | {kind} |"
            ]
        index += [""]
    return {"values/index.md": "\n".join(index), **pages}


def value_names(bench: Benchmark) -> list[str]:
    """The names of a benchmark's scores and raw values, as in a result."""
    with TemporaryDirectory() as folder:
        submission = check_submission(write_baseline("constant", bench.name, Path(folder) / "submission")).submission
    if submission is None:
        raise ValueError(f"{bench.name}: its constant baseline has faults; see `fairspace check`")
    values = bench.measure(bench.read(submission))
    return list(dict.fromkeys([*bench.score(values, bench.standards[bench.default]).scores, *values]))


def _kinds(bench: Benchmark) -> Mapping[str, list[str]]:
    """Measured quantity in words -> the names that measure it, over different groups or parts."""
    kinds: dict[str, list[str]] = {}
    describe = bench.about().describe
    for name in value_names(bench):
        words = describe(name)
        if not words:
            raise ValueError(f"{bench.name}: {name} has no words: complete `describe` in its about.py")
        kinds.setdefault(re.split(r"[:,] ", words)[0], []).append(name)
    return kinds


def _page(bench: Benchmark, kind: str, names: Iterable[str]) -> str:
    about, lines = bench.about(), [f"# {kind[0].upper()}{kind[1:]}", "", f"A part of {bench.title}.", ""]
    by_metric: dict[str, list[str]] = {}
    for name in names:
        by_metric.setdefault(about.metric(name), []).append(name)
    for metric, named in by_metric.items():
        if metric:
            card = f"../../metrics/{metric}/README.md"
            lines += [f"Computed by [`{metric}`]({card}): formula, undefined case, figures of the paper.", ""]
            lines += [metric_range(metric), ""]
        else:
            ideals = [bench.ideal(name, bench.default) for name in named]
            signed = any(ideal is not None and ideal.worse == "either" for ideal in ideals)
            lines += [f"Counted in the model's own answers. Range {'[−1, 1]' if signed else '[0, 1]'}.", ""]
        lines += ["| name | what it is | ideal |", "|---|---|---|"]
        for name in named:
            better = direction(bench, bench.ideal(name, bench.default)) or "none: it describes the model"
            lines += [f"| `{name}`{{ #{name} }} | {about.describe(name)} | {better} |"]
        lines += [""]
    elsewhere = "More in the [glossary](../../GLOSSARY.md) and the [errata](../../cards/errata.md) of the papers."
    lines += [f"Source: {paper(bench.name).title}. {elsewhere}"]
    return "\n".join(lines)


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
