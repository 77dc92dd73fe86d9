"""Hooks of mkdocs: add the repository's Markdown and generated pages to the site.

A page keeps its path, so links between Markdown files still work. Links to other files lead to the published source.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import fairspace
from fairspace.builders.publishing.artifacts import metric_names
from fairspace.builders.registry import paper
from fairspace.cards.metric_card import with_arguments
from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.show.headline import direction

# Values are those of a trivial model's submission, so a page lists exactly the names of a result.

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
    describe = bench.describe
    for name in value_names(bench):
        words = describe(name)
        if not words:
            raise ValueError(f"{bench.name}: {name} has no words: complete `values` in its words.toml")
        kinds.setdefault(re.split(r"[:,] ", words)[0], []).append(name)
    return kinds


def _page(bench: Benchmark, kind: str, names: Iterable[str]) -> str:
    lines = [f"# {kind[0].upper()}{kind[1:]}", "", f"A part of {bench.title}.", ""]
    by_metric: dict[str, list[str]] = {}
    for name in names:
        by_metric.setdefault(bench.metric_of(name), []).append(name)
    for metric, of_metric in by_metric.items():
        if metric:
            card = f"../../metrics/{metric}/README.md"
            lines += [f"Computed by [`{metric}`]({card}): formula, undefined case, figures of the paper.", ""]
            lines += [metric_range(metric), ""]
        else:
            ideals = [bench.ideal(name, bench.default) for name in of_metric]
            signed = any(ideal is not None and ideal.worse == "either" for ideal in ideals)
            lines += [f"Counted in the model's own answers. Range {'[−1, 1]' if signed else '[0, 1]'}.", ""]
        lines += ["| name | what it is | ideal |", "|---|---|---|"]
        for name in of_metric:
            better = direction(bench, bench.ideal(name, bench.default)) or "none: it describes the model"
            lines += [f"| `{name}`{{ #{name} }} | {bench.describe(name)} | {better} |"]
        lines += [""]
    elsewhere = "More in the [glossary](../../GLOSSARY.md) and the [errata](../../cards/errata.md) of the papers."
    lines += [f"Source: {paper(bench.name).title}. {elsewhere}"]
    return "\n".join(lines)


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


ROOT = Path(__file__).resolve().parents[2]
SOURCE = "https://huggingface.co/spaces/fairspace/leaderboard/tree/main/fairspace"
"""Published source of the package, from which the board runs."""
FOLDERS = ("ares", "builders", "cards", "leaderboard_space", "metrics", "submissions")
PARTS = (
    "fairspace.submissions.values",
    "fairspace.submissions.format.schema",
    "fairspace.submissions.results.result",
    "fairspace.submissions.benchmarks.benchmark",
    "fairspace.builders.engine.dataset",
    "fairspace.harness",
    "fairspace.testing",
    "fairspace.ares.modeling_ares",
    "fairspace.ares.deciding_ares",
    "fairspace.ares.configuration_ares",
    "fairspace.ares.image_processing_ares",
    "fairspace.ares.pipeline_ares",
)
"""Modules described on the page about parts of the library."""
_NOTES = (
    "Every value is a number, *undefined* or *not run*, with a reason; missing is never 0. Labels are perceived, not",
    "true. Commands: `fairspace --help`; errors: `submissions/errors.py`. A board's API describes itself, with",
    "shortened answers of a real Space, at `/api/v1/openapi.json`.",
)
PICTURES = "cards/site/pages"
"""Folder of README's picture, which the site has at its root."""
_LINK = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)([^)#\s]*)(#[^)\s]*)?(?=\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the repository's Markdown, the generated pages and `llms.txt`."""
    for path in markdown():
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    pages = {
        "metrics/index.md": _metrics(),
        "reference/python.md": _described("Python", "What `import fairspace` has; [examples](../LIBRARY.md).", _face()),
        "reference/parts.md": _described("Parts of the library", "What lies behind [the functions](python.md).", PARTS),
        **value_pages(),
    }
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    text = llms(lambda path: f"{config.site_url}{files.src_uris[path].url.removeprefix('./')}")
    files.append(File.generated(config, "llms.txt", content=text))
    return files


def markdown() -> list[str]:
    """Paths of the repository's Markdown for readers."""
    pages = [path for path in ROOT.glob("*.md") if path.name != "CLAUDE.md"]
    for folder in FOLDERS:
        pages += [path for path in (ROOT / folder).rglob("*.md") if "site" not in path.relative_to(ROOT).parts]
    return sorted(path.relative_to(ROOT).as_posix() for path in pages)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links without a page to the source, README's picture to its copy; show the arguments of a metric."""
    here = posixpath.dirname(page.file.src_uri)
    markdown = with_arguments(markdown, ROOT / here).replace(f'"{PICTURES}/', '"')

    def target(match: re.Match[str]) -> str:
        path, anchor = match[1], match[2] or ""
        if path.startswith("/errata"):
            return posixpath.relpath("cards/errata.md", here or ".") + anchor
        whole = posixpath.normpath(posixpath.join(here, path))
        if files.get_file_from_path(whole) or not (ROOT / whole).exists():
            return match[0]
        readme = next((name for name in ("README.md", "index.md") if files.get_file_from_path(f"{whole}/{name}")), "")
        return f"{path.rstrip('/')}/{readme}{anchor}" if readme else f"{SOURCE}/{whole}"

    return _LINK.sub(target, markdown)


def _metrics() -> str:
    rows = []
    for name in metric_names():
        card = (ROOT / "metrics" / name / "README.md").read_text(encoding="utf-8")
        title = re.search(r"^# (.+)$", card, re.MULTILINE)
        within = metric_range(name).replace("\n", " ").replace("|", "\\|")
        rows.append(f"| [`{name}`]({name}/README.md) | {title[1] if title else name} | {within} |")
    head = ["# Metrics", "", 'Each is an `evaluate` module: `evaluate.load("fairspace/NAME")`.', ""]
    return "\n".join([*head, "| module | metric | range and ideal |", "|---|---|---|", *rows, ""])


def _face() -> list[str]:
    return [f"fairspace.{name}" for name in fairspace.__all__ if not name.startswith("_")]


def _described(title: str, introduction: str, names: Sequence[str]) -> str:
    return "\n".join([f"# {title}", "", introduction, "", *(f"::: {name}\n" for name in names)])


def llms(address: Callable[[str], str]) -> str:
    """`llms.txt` (llmstxt.org): the site's pages in its sections, each with its first sentence.

    Args:
        address: Path of a page -> its link; '' leaves the page out.
    """
    nav = yaml.safe_load((Path(__file__).parent / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    lines = ["# fairspace", "", f"> {_sentence('README.md')}", "", *_NOTES]
    for section in nav:
        [(title, pages)] = section.items()
        lines += ["", f"## {title}", ""]
        for page in pages:
            [(name, path)] = page.items()
            about = _sentence(path)
            if link := address(path):
                lines += [f"- [{name}]({link})" + (f": {about}" if about else "")]
    return "\n".join([*lines, ""])


def _sentence(path: str) -> str:
    file = ROOT / path
    blocks = file.read_text(encoding="utf-8").split("\n\n") if file.is_file() else []
    first = next((" ".join(block.split()) for block in blocks if re.match(r"[A-Z]|`\w|fairspace ", block)), "")
    return re.split(r"(?<=[.:])\s", re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", first))[0].rstrip(":")


if __name__ == "__main__":  # `make docs` writes the repository's own
    print(llms(lambda path: path if (ROOT / path).is_file() else ""), end="")
