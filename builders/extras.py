"""Extras: absent packages, and the command that installs an extra."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from urllib.parse import unquote, urlsplit


def absent_packages(*modules: str) -> str:
    """The names of the packages that cannot be imported, with commas; '' if all can."""
    return ", ".join(module.replace("_", "-") for module in modules if find_spec(module) is None)


def install_command(extra: str) -> str:
    """The command that adds an extra: from the clone, the repository or the wheel that fairspace was installed from."""
    try:
        origin = json.loads(distribution("fairspace").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        origin = {}
    url = origin.get("url", "")
    if "dir_info" in origin:
        folder = unquote(urlsplit(url).path)
        editable = "-e " if origin["dir_info"].get("editable") else ""
        return f"pip install -c '{folder}/constraints.txt' {editable}'{folder}[{extra}]'"
    if "vcs_info" in origin:
        version = origin["vcs_info"]
        return f"pip install 'fairspace[{extra}] @ {version['vcs']}+{url}@{version['commit_id']}'"
    source = f" @ {url}" if url else ""
    return f"pip install 'fairspace[{extra}]{source}'"
