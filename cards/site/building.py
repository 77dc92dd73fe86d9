"""Build the documentation site and the static Space that shows it."""

from importlib.util import find_spec
from pathlib import Path

from fairspace.builders.errors import BuildError

HERE = Path(__file__).resolve().parent
CARD = """---
title: fairspace documentation
emoji: 📖
colorFrom: green
colorTo: blue
sdk: static
app_file: index.html
license: apache-2.0
---

The documentation of fairspace, which measures the fairness of generative models, built from its repository.
"""


def site_files(out: Path) -> dict[str, Path | bytes]:
    """Build the site into an empty folder; path in the Space -> file or content.

    BuildError TOOL_MISSING without mkdocs or outside a clone.
    """
    config = HERE / "mkdocs.yml"
    if not (HERE.parents[1] / "README.md").is_file() or find_spec("material") is None:
        raise BuildError(
            "TOOL_MISSING",
            "docs",
            "no clone of the repository, or no mkdocs-material",
            "a clone whose environment `make setup` has made",
            "clone the repository, run `make setup` there, and publish from it",
        )
    from mkdocs.commands.build import build
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort

    try:
        build(load_config(str(config), site_dir=str(out)))
    except Abort as error:
        raise BuildError(
            "CARD_INVALID", str(config), str(error), "pages whose links lead somewhere", "mend what the log names"
        ) from error
    files = {file.relative_to(out).as_posix(): file for file in sorted(out.rglob("*")) if file.is_file()}
    return {**files, "README.md": CARD.encode()}
