"""`fairspace publish result`: the headline scores of a result, proposed to the model's repository on the Hub."""

from __future__ import annotations

import re
from datetime import date as calendar_date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairspace.submissions.commands.publishing.artifacts import DryRun, NamespaceOption, publishing
from fairspace.submissions.errors import UsageError, plain

if TYPE_CHECKING:
    from fairspace.builders.engine.dataset import Dataset
    from fairspace.submissions.results.result import Result

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


@publishing.command("result", epilog="Example: fairspace publish result result.json --model me/my-model --dry-run")
def publish_result(
    result: Annotated[Path, typer.Argument(help="What `fairspace score` wrote with --out.", metavar="RESULT")],
    model: Annotated[str, typer.Option(help="The model's repository on the Hub, OWNER/NAME.", metavar="OWNER/NAME")],
    space: Annotated[
        str,
        typer.Option(envvar="FAIRSPACE_SPACE", help="The Space with the result's row, which becomes the source."),
    ] = "",
    date: Annotated[str, typer.Option(help="When the model was asked, YYYY-MM-DD.", metavar="DATE")] = "",
    namespace: NamespaceOption = "fairspace",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; for scripts.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Propose a result's headline scores to its model's repository, as a pull request that its owners decide on.

    The file is shown first, and nothing is sent before you agree.
    """
    from fairspace.builders.publishing.proposal import propose
    from fairspace.submissions.exchange.hub_results import (
        as_yaml,
        eval_result_entries,
        eval_results_path,
        publishable,
    )
    from fairspace.submissions.results.scoring import load_result

    if not _REPOSITORY.fullmatch(model):
        raise UsageError(f"{model!r} is no repository of a model; name it as OWNER/NAME.")
    scored = publishable(load_result(result))
    entries = eval_result_entries(
        scored, namespace, partial(_commit, scored, namespace), date=_checked(date), source=_row(scored, space)
    )
    path, text = eval_results_path(scored), as_yaml(entries)
    typer.echo(f"{path} in {model}, from answers of {plain(str(scored.meta['model']))}:\n\n{plain_lines(text)}")
    for note in _lacking(date, space, any(entry.dataset_revision is None for entry in entries)):
        typer.echo(f"Note: {note}")
    if dry_run:
        return
    if not yes:
        typer.confirm(f"Propose this to {model}, as a pull request that everybody can see?", abort=True)
    proposal = propose(
        model,
        path,
        text.encode(),
        title=f"Add evaluation results of fairspace: {scored.benchmark}",
        description=f"Headline scores under the standard {scored.standard}; notes hold interval and protocol.",
    )
    said = {
        "there": "The repository has this file already",
        "open": "An open pull request has this file already",
        "opened": "Opened a pull request",
        "changed": "Changed the open pull request",
    }
    typer.echo(f"{said[proposal.state]}: {proposal.address}")


def plain_lines(text: str) -> str:
    """Lines that a terminal can show, whatever a submitter wrote into names."""
    return "\n".join(plain(line) for line in text.split("\n"))


def _commit(result: Result, namespace: str, dataset: Dataset) -> str | None:
    """The commit of the published dataset that has the items which were answered."""
    from fairspace.builders.publishing.released import released_commit

    revision = dataset.revision_of(result.signature.get("dataset_revision", ""))
    return released_commit(f"{namespace}/{dataset.name}", revision, result.standard)


def _checked(date: str) -> str:
    """The date. UsageError if it is none."""
    try:
        return calendar_date.fromisoformat(date).isoformat() if date else ""
    except ValueError as error:
        raise UsageError(f"--date is {date!r}; write it as 2026-11-23 is written.") from error


def _row(result: Result, space: str) -> str:
    """The address of the result's row, which the Space must have; '' without a Space. UsageError if it has none."""
    if not space:
        return ""
    import httpx

    from fairspace.submissions.commands.shared.space_client import space_address
    from fairspace.submissions.exchange.hub_results import row_path

    address = f"{space_address(space, insecure=True)}{row_path(result)}"
    try:
        status = httpx.get(address, follow_redirects=True, timeout=30).status_code
    except httpx.HTTPError as error:
        raise UsageError(f"{address} does not answer ({error}); leave out --space, or try again later.") from error
    if status != 200:
        raise UsageError(f"{address} answers {status}; hand the submission in there first, or leave out --space.")
    return address


def _lacking(date: str, space: str, without_revision: bool) -> list[str]:
    """What the entries do not say, and how to have them say it."""
    notes = []
    if not date:
        notes.append("no date, so the Hub shows that of the pull request; --date says when the model was asked.")
    if not space:
        notes.append("no source; --space names the Space with the result's row.")
    if without_revision:
        notes.append("no commit of the dataset: none that can be read here has the items which were answered.")
    return notes
