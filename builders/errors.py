"""Coded errors of building and publishing (`CODES` are stable), absent packages, and the installation of extras."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from typing import ClassVar
from urllib.parse import unquote, urlsplit

CODES: dict[str, str] = {
    "SOURCE_MISSING": "a source that a person must obtain is not in the source folder",
    "SOURCE_LAYOUT": "a source file breaks its public layout",
    "SOURCE_VALUE": "a cell of a source file has a value that its layout does not know",
    "SOURCE_DAMAGED": "a spreadsheet program changed cells of a source file",
    "SOURCE_IMAGE": "an image of a source is missing or cannot be read",
    "TOOL_MISSING": "a build needs a model or a package that was not named or is not installed",
    "TOOL_OUTPUT": "a model or endpoint gave something that cannot be used",
    "OUT_IN_USE": "the output folder holds something else, or another build of the dataset",
    "BUILD_INCOMPLETE": "the folder does not hold a finished build",
    "BUILD_CHECK": "what was built does not have the counts, balance or wording that the dataset promises",
    "REGION_INVALID": "a table of a region's labour figures breaks its layout",
    "REVIEW_INVALID": "a line of what reviewers said is not an id, a seed and three lists of columns",
    "CARD_INVALID": "a card breaks the Hub's rules",
    "HUB_REFUSED": "the Hub refused a request, and asking again would not help",
    "HUB_UNAVAILABLE": "the Hub did not answer, or kept failing",
    "HUB_CONFLICT": "other writers kept changing the repository",
    "TAG_RELEASED": "a tag exists already and holds other content",
    "TAG_OF_SAMPLE": "a release's tag, which never moves, would name a sample or a model that was trained on one",
    "TAG_RESERVED": "a tag of this name would change what clients load",
    "CONFIG_INVALID": "a training configuration has a key or value that is not known",
    "REVISION_UNKNOWN": "a dataset does not have the revision whose items are wanted",
    "REVISION_UNPINNED": "a checkpoint is named without the commit that it is taken from",
    "TRAINING_DATA": "images to train on are missing, or cannot be used",
    "MEASUREMENT_INVALID": "the measured error of a classifier is missing, or is not that of the weights beside it",
    "PART_INVALID": "a part of a work is not named I/N",
    "PARTS_UNJOINABLE": "parts that are joined overlap, differ in what was asked, or lack one",
    "RANKS_UNMEANT": "a launcher started several processes for a work of one, or did not for a work of several",
    "MODEL_UNSAFE": "a model's folder holds a file that could run code when it is loaded",
}


class CodedError(Exception):
    """An error with place, finding, expectation and remedy (`mend`), under a code of its kind's table `codes`."""

    codes: ClassVar[Mapping[str, str]]

    def __init__(self, code: str, where: str, what: str, expected: str, mend: str) -> None:
        if code not in self.codes:
            raise KeyError(f"{code} is no code of {type(self).__name__}")
        super().__init__(f"{code} at {where}: {what.rstrip('. ')}. Expected: {expected}. Mend: {mend}")
        self.code, self.where, self.what, self.expected, self.mend = code, where, what, expected, mend

    def __reduce__(self) -> tuple[type[CodedError], tuple[str, ...]]:
        return type(self), (self.code, self.where, self.what, self.expected, self.mend)


class BuildError(CodedError):
    """A dataset cannot be built or published."""

    codes = CODES


def check_revision(dataset: str, revision: str, revisions: Sequence[str]) -> None:
    """BuildError REVISION_UNKNOWN if a dataset has no such revision."""
    if revision not in revisions:
        close = get_close_matches(revision, revisions, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        mend = "name a revision of this version of fairspace, or take the version that has this one"
        expected = f"one of {', '.join(revisions)}"
        raise BuildError("REVISION_UNKNOWN", f"dataset {dataset}", f"revision {revision!r}{hint}", expected, mend)


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
