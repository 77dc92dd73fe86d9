"""Hooks of mkdocs: add the repository's Markdown and generated pages to the site.

A page keeps its path, so links between Markdown files still work. Links to other files lead to the published source.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import fairspace
from fairspace.builders.publishing.artifacts import metric_names
from fairspace.cards.site.values import metric_range, value_pages

ROOT = Path(__file__).parents[2]
SOURCE = "https://huggingface.co/spaces/fairspace/leaderboard/tree/main/fairspace"
"""Published source of the package, from which the board runs."""
FOLDERS = ("ares", "builders", "cards", "leaderboard_space", "metrics", "submissions")
PARTS = (
    "fairspace.submissions.values",
    "fairspace.submissions.format.schema",
    "fairspace.submissions.results.result",
    "fairspace.submissions.benchmarks.benchmark",
    "fairspace.builders.engine.dataset",
    "fairspace.ares.deciding_ares",
    "fairspace.ares.modeling_ares",
)
"""Modules described on the page about parts of the library."""
_LINK = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)([^)#\s]*)(#[^)\s]*)?(?=\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the repository's Markdown and the generated pages."""
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
    return files


def markdown() -> list[str]:
    """Paths of the repository's Markdown for readers."""
    pages = [path for path in ROOT.glob("*.md") if path.name != "CLAUDE.md"]
    for folder in FOLDERS:
        pages += [path for path in (ROOT / folder).rglob("*.md") if "site" not in path.relative_to(ROOT).parts]
    return sorted(path.relative_to(ROOT).as_posix() for path in pages)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links without a page to the published source, and links to the board's errata to the errata page."""
    here = posixpath.dirname(page.file.src_uri)

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
    return [f"fairspace.{name}" for name in fairspace.__all__ if not name.isupper() and not name.startswith("_")]


def _described(title: str, introduction: str, names: Sequence[str]) -> str:
    return "\n".join([f"# {title}", "", introduction, "", *(f"::: {name}\n" for name in names)])
