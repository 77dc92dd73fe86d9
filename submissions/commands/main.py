"""The command `fairspace`.

Exit codes: 0 done, 1 a submission, source, build or run is at fault, 2 wrong use, 3 a gate fails, 130 by Ctrl-C.
Modules of commands import at the top what their help needs and nothing else, so that `fairspace --help` is quick.
"""

import codecs
import os
import sys
from importlib import import_module
from io import TextIOWrapper

import typer

from fairspace.builders.errors import CodedError
from fairspace.submissions.commands.app import STOPPED, app, print_faults
from fairspace.submissions.errors import UsageError, of_system, plain
from fairspace.submissions.format.faults import SubmissionError

MODULES = ("run", "join", "score", "standard", "space", "build", "ares", "verify_submission")
"""The modules of commands, in the order of the help. Each adds its commands to the application when it is imported."""
ONLINE = ("ares", "build", "eval", "judge", "probe", "publish", "run", "verify-submission")
"""The commands that may talk to the Hub: for models and datasets, and to publish."""

for _module in MODULES:
    import_module(f"fairspace.submissions.commands.{_module}")


def main() -> None:
    """Run the command; wrong use and faults end it with a message, not a traceback."""
    _write_in_any_encoding()
    words = sys.argv[1:]
    names_model = any(word.partition("=")[0] in ("--ares", "--labeller") for word in words)
    names_hub = any("hf://" in word for word in (*words, os.environ.get("FAIRSPACE_STORE", "")))
    offline = not set(words[:1]) & set(ONLINE) and not names_model and not names_hub
    os.environ.setdefault("HF_HUB_OFFLINE", "1" if offline else "0")
    try:
        app(words, prog_name="fairspace")
    except UsageError as error:
        typer.secho(f"fairspace: {plain(str(error))}", fg="red", err=True)
        sys.exit(2)
    except SubmissionError as error:
        print_faults(error.faults)
        sys.exit(1)
    except CodedError as error:
        typer.secho(f"fairspace: {plain(str(error))}", fg="red", err=True)
        sys.exit(STOPPED if error.code == "RUN_STOPPED" else 1)
    except OSError as error:
        typer.secho(f"fairspace: {plain(of_system(error))}", fg="red", err=True)
        sys.exit(2)


_SIGNS = {"≥": ">=", "≤": "<=", "−": "-", "–": "-", "…": "...", "×": "x", "±": "+-", "·": ".", "’": "'"}
"""Signs of our own texts -> what stands for them in an encoding without them; letters become question marks."""


def _write_in_any_encoding() -> None:
    """Have standard output and error replace what their encoding lacks, as cp1252 of Windows lacks a ≥."""

    def replaced(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeEncodeError)
        return "".join(_SIGNS.get(sign, "?") for sign in error.object[error.start : error.end]), error.end

    codecs.register_error("fairspace", replaced)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="fairspace")
