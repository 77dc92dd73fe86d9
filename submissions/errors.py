"""Errors of the user, and text made safe to print."""

import errno
import html
import os
import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from fairspace.builders.errors import CodedError

CODES: dict[str, str] = {
    "RUN_OTHER": "the folder holds the workings of another run: another model, other settings or other prompts",
    "RUN_IN_USE": "another process is running in the folder",
    "RUN_INCOMPLETE": "the run stopped before every item had its fate",
    "RUN_STOPPED": "the run was stopped by whoever started it (Ctrl-C); what was done is kept",
    "RUN_SPENT": "the run has spent what it may; what was done is kept",
    "MODEL_SILENT": "the model did not answer request after request",
    "MODEL_UNKNOWN": "the model is not named as its engine expects, or cannot be opened",
    "MODEL_OUTPUT": "a model gave something that cannot be used",
    "DUPLICATE_IMAGE": "two samples of one prompt are the same image, to the byte",
    "DATA_MISSING": "a task needs a dataset that was not found, or that lacks its images",
    "DATA_INVALID": "a dataset does not have the columns or items of the benchmark",
    "TASK_UNKNOWN": "the benchmark has no such task, or none that the named models can do",
    "LOG_INVALID": "a log is not one of a benchmark's task, or cannot be read",
    "LOG_CONFLICT": "logs that are imported together answer the same item, or are of different models",
    "PRICES_INVALID": "a file of prices cannot be read, or does not name the model",
    "RECIPE_INVALID": "a recipe of a probe cannot be read, or does not fit the model",
    "JUDGE_NOTHING": "a submission has nothing that a judge could read",
}

MODEL_NAMES = "a folder, FILE.gguf, FILE.py:FUNCTION, http://HOST/v1#MODEL, or PROVIDER/MODEL as Inspect names it"
"""Forms of a model's name."""


class RunError(CodedError):
    """A model cannot be run, or its run cannot go on."""

    codes = CODES


_STEERING = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Unicode's category Cf, and invisible signs: fillers, the empty Braille sign, variation selectors, tags."""
_PILED = re.compile(
    r"([\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{3})"
    r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)


def address(place: object) -> str:
    """The address, such as https:// or hf://, that is given where a path is due, with all its slashes; '' for none."""
    scheme = re.match(r"([A-Za-z]\w+):/+", text := str(place))
    return f"{scheme[1]}://{text[scheme.end() :]}" if scheme else ""


_FORMULA = re.compile(r"(^|[;,])(\s*)([=+\-@\uff1d\uff0b\uff0d\uff20])")
_MARKDOWN = re.compile(
    r"[\\`*\[\]<>|&~$]|(?<!\w)_|_(?!\w)|(?<=\w):(?=//)|(?<=www)\.|(?<=\w)@(?=\w)|^[-+=#](?=[-+=#\s]|$)|(?<=^\d)[.)](?=\s)",
    re.IGNORECASE,
)
"""Signs of Markdown, of links that it makes of bare addresses, and of headings and lists at a line's start."""
_LATEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{
            "\N{MINUS SIGN}": "$-$",
            "\N{EN DASH}": "--",
            "\N{MULTIPLICATION SIGN}": r"$\times$",
            "<": "$<$",
            "≤": r"$\leq$",
            "≥": r"$\geq$",
            "±": r"$\pm$",
            ">": "$>$",
        },
    }
)
"""Signs that are commands in LaTeX, or absent from some fonts -> their LaTeX."""


def plain(text: str) -> str:
    """Untrusted text without signs that steer a terminal or page: controls, line breaks, direction marks.

    Halves of surrogate pairs go too, and all but three accents on one letter: more paint over the lines around.
    """
    if text.isascii() and text.isprintable():
        return text
    return _PILED.sub(r"\1", _STEERING.sub(" ", text))


@lru_cache(4096)
def harmless(text: str) -> str:
    """Untrusted text for a cell of CSV; an apostrophe before a leading sign of a formula."""
    return _FORMULA.sub(r"\1\2'\3", plain(text))


def web(text: object) -> str:
    """Untrusted text for HTML and SVG that no template escapes, within a tag's quotation marks too."""
    return html.escape(plain(str(text)))


def markdown(text: str) -> str:
    """Untrusted text without any meaning in Markdown: no markup, no HTML, no link, no column."""
    return _MARKDOWN.sub(r"\\\g<0>", plain(text).strip())


def latex(text: str) -> str:
    """Untrusted text as LaTeX without commands."""
    return plain(text).translate(_LATEX)


class UsageError(Exception):
    """A request for something that does not exist; the message says what there is instead."""


_FOLDERS = {"HF_HOME": "~/.cache/huggingface", "XDG_CACHE_HOME": "~/.cache", "XDG_DATA_HOME": "~/.local/share"}
"""Variable -> default folder, where the programs that we use keep their files."""


def of_system(error: OSError) -> str:
    """An error of a file or disk as a sentence with the system's code, such as ENOSPC, and what to set for the home."""
    code = errno.errorcode.get(error.errno or 0, "")
    if error.filename is None:
        return f"{code}{': ' if code else ''}{error.strerror or error}."
    file, lacking = Path(str(error.filename)), []
    for name, usual in _FOLDERS.items():
        folder = Path(os.path.expanduser(os.environ.get(name) or usual))  # noqa: PTH111 - no error without a home
        if file == folder or file in folder.parents or folder in file.parents:
            lacking.append(name)
    mend = f" Set {', '.join(lacking)} to a folder that can be written." if lacking else ""
    return f"{code}{' at ' if code else ''}{error.filename}: {error.strerror}.{mend}"


def need_packages(extra: str, *modules: str) -> None:
    """UsageError with the installing command if a module of an extra is absent."""
    from fairspace.builders.errors import absent_packages, install_command

    if absent := absent_packages(*modules):
        raise UsageError(f"{absent} not installed: {install_command(extra)}.")


def need_labeller(labeller: str) -> None:
    """UsageError if what this labeller runs on is not installed."""
    scheme = labeller.partition("?")[0].partition(":")[0]
    if scheme == "vlm":
        need_packages("run", "inspect_ai", "openai", "torch", "transformers")
    elif scheme in ("clip", "fairface", "uniface", "deepface"):
        need_packages("run", "torch", "transformers")
    else:
        need_packages("ares", "torch", "transformers", "xgboost", "safetensors")


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """' (did you mean ...?)' for the closest known word, or ''."""
    close = get_close_matches(word, list(words), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
