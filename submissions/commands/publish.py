"""`fairspace publish WHAT...`: datasets, metrics, ARES, the Space and a result's scores, on the Hub."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from datetime import date as calendar_date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairspace.builders.errors import BuildError
from fairspace.submissions.commands.app import MAKE, app
from fairspace.submissions.commands.build import say_error
from fairspace.submissions.errors import UsageError, plain

if TYPE_CHECKING:
    from fairspace.builders.engine.dataset import Dataset
    from fairspace.builders.publishing.artifacts import Artifact
    from fairspace.submissions.results.result import Result

STORE_TOKEN = "FAIRSPACE_STORE_TOKEN"  # noqa: S105 the name of a variable
_SECRET = re.compile(r".*(TOKEN|SECRET|KEY|PASSWORD).*")
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
OF_SPACE, OF_RESULT = "With space", "With a result"


@app.command(epilog="Example: fairspace publish all --built built --tag inaugural --dry-run", rich_help_panel=MAKE)
def publish(
    what: Annotated[
        list[str],
        typer.Argument(
            help="Datasets, metrics, ares, space by name; or datasets, metrics, all; or a result, whose headline "
            "scores are proposed to its model's repository."
        ),
    ],
    built: Annotated[Path, typer.Option(help="Folder of builds, one subfolder per dataset.")] = Path("built"),
    namespace: Annotated[
        str, typer.Option("--namespace", envvar="FAIRSPACE_NAMESPACE", help="User or organisation on the Hub.")
    ] = "fairspace",
    tag: Annotated[
        str | None, typer.Option(help="Tag of the standard, for example inaugural; it never moves. Not for the Space.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; print what would change.")] = False,
    allow_sample: Annotated[bool, typer.Option("--allow-sample", help="Publish sample builds too.")] = False,
    store: Annotated[
        str,
        typer.Option(
            help="Private dataset for results, OWNER/NAME; the Space keeps the one that it has, or gets "
            "NAMESPACE/leaderboard-store.",
            rich_help_panel=OF_SPACE,
        ),
    ] = "",
    variable: Annotated[
        list[str] | None,
        typer.Option(
            help="A setting of OPERATION.md; can be given again.", metavar="NAME=VALUE", rich_help_panel=OF_SPACE
        ),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            help="The model's repository on the Hub, OWNER/NAME.", metavar="OWNER/NAME", rich_help_panel=OF_RESULT
        ),
    ] = "",
    space: Annotated[
        str,
        typer.Option(
            envvar="FAIRSPACE_SPACE",
            help="The Space with the result's row, which becomes the source.",
            rich_help_panel=OF_RESULT,
        ),
    ] = "",
    date: Annotated[
        str, typer.Option(help="When the model was asked, YYYY-MM-DD.", metavar="DATE", rich_help_panel=OF_RESULT)
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; for scripts.", rich_help_panel=OF_RESULT)] = False,
) -> None:
    """Publish datasets, metrics, ARES and the Space: one commit each, only what changed, with the standard's tag.

    `publish space` alone also sets up its store, its variables and its secrets, so that it takes submissions:
    FAIRSPACE_STORE_TOKEN holds the token that the Space writes its store with; a signing key is drawn once. `publish
    RESULT` proposes the headline scores as a pull request that the model's owners decide on, after it has shown them.
    """
    if what == ["space"]:
        _publish_space(namespace, store, variable or [], dry_run)
    elif len(what) == 1 and what[0].endswith(".json"):
        _publish_result(Path(what[0]), model, space, date, namespace, yes, dry_run)
    else:
        _publish_artifacts(what, built, namespace, tag, dry_run, allow_sample)


def _publish_artifacts(
    what: Sequence[str], built: Path, namespace: str, tag: str | None, dry_run: bool, allow_sample: bool
) -> None:
    from fairspace.builders.publishing.artifacts import choose

    try:
        # A dry run publishes nothing, so a sample may be looked at as well.
        chosen = choose(what, built, built / "ares", namespace, allow_sample or (dry_run and not tag), tag or "")
    except KeyError as error:
        raise UsageError(str(error.args[0])) from error
    refused: list[BuildError | None] = [None]
    for number, artifact in enumerate(chosen, 1):
        try:
            typer.echo(_publish(artifact, None if artifact.name == "space" else tag, dry_run))
            if artifact.sample and not allow_sample:
                typer.echo("  a sample build: publishing it takes --allow-sample")
        except BuildError as error:
            say_error(error)
            last = refused[-1]
            refused.append(error)
            if last is not None and (last.code, last.what) == (error.code, error.what) and number < len(chosen):
                left = ", ".join(other.name for other in chosen[number:])
                typer.secho(f"fairspace: the same twice, so these were not tried: {left}.", fg="red", err=True)
                break
    if len(refused) > 1:
        raise typer.Exit(1)


def _publish(artifact: Artifact, tag: str | None, dry_run: bool) -> str:
    from fairspace.builders.publishing.repository import publish_repo

    with tempfile.TemporaryDirectory() as scratch:
        files = artifact.files(Path(scratch))
        message = f"Publish {artifact.name}"
        return publish_repo(artifact.repo, files, message=message, tag=tag, dry_run=dry_run).text()


def _publish_space(namespace: str, store: str, stated: list[str], dry_run: bool) -> None:
    from fairspace.builders.publishing.artifacts import choose
    from fairspace.builders.publishing.repository import publish_repo
    from fairspace.builders.publishing.space_settings import ON_HUB, STORE, set_up_space

    variables = _variables(stated)
    if store:
        variables[STORE] = f"{ON_HUB}{store}"
    [space] = choose(["space"], Path(), Path(), namespace, allow_sample=False)
    for line in set_up_space(
        space.repo,
        variables,
        store=f"{namespace}/leaderboard-store",
        store_token=os.environ.get(STORE_TOKEN, "").strip(),
        dry_run=dry_run,
    ):
        typer.echo(f"{line[0].upper()}{line[1:]}.")
    with tempfile.TemporaryDirectory() as scratch:
        files = space.files(Path(scratch))
        typer.echo(publish_repo(space.repo, files, message="Publish space", dry_run=dry_run).text())


def _variables(stated: list[str]) -> dict[str, str]:
    """Variables by name. UsageError for one that is none, is a secret, or that a Space could not start with."""
    from fairspace.leaderboard_space.settings import Settings

    variables: dict[str, str] = {}
    for text in stated:
        name, equals, value = text.partition("=")
        if not equals or not re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
            raise UsageError(f"--variable {text!r} is no NAME=VALUE, such as FAIRSPACE_ADMINS=ann.")
        if _SECRET.fullmatch(name):
            raise UsageError(f"{name} looks like a secret, and everybody can read variables; set it on the Hub.")
        variables[name] = value
    Settings.from_environment(variables)
    return variables


def _publish_result(file: Path, model: str, space: str, date: str, namespace: str, yes: bool, dry_run: bool) -> None:
    from fairspace.builders.publishing.repository import propose
    from fairspace.submissions.exchange import as_yaml, eval_result_entries, eval_results_path, publishable
    from fairspace.submissions.results.scoring import load_result

    if not _REPOSITORY.fullmatch(model):
        raise UsageError(f"{model!r} is no repository of a model; name it as OWNER/NAME.")
    scored = publishable(load_result(file))
    entries = eval_result_entries(
        scored, namespace, partial(_commit, scored, namespace), date=_checked(date), source=_row(scored, space)
    )
    path, text = eval_results_path(scored), as_yaml(entries)
    typer.echo(f"{path} in {model}, from answers of {plain(str(scored.meta['model']))}:\n\n{_plain_lines(text)}")
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


def _plain_lines(text: str) -> str:
    """Lines that a terminal can show, whatever a submitter wrote into names."""
    return "\n".join(plain(line) for line in text.split("\n"))


def _commit(result: Result, namespace: str, dataset: Dataset) -> str | None:
    """The commit of the published dataset that has the items which were answered."""
    from fairspace.builders.publishing.repository import released_commit

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
    from fairspace.submissions.exchange import row_path

    address = f"{space_address(space)}{row_path(result)}"
    try:
        status = httpx.get(address, follow_redirects=True, timeout=30).status_code
    except httpx.HTTPError as error:
        raise UsageError(f"{address} does not answer ({error}); leave out --space, or try again later.") from error
    if status != 200:
        raise UsageError(f"{address} answers {status}; hand the submission in there first, or leave out --space.")
    return address


def _lacking(date: str, space: str, without_revision: bool) -> list[str]:
    """Facts that the entries lack, and how to add them."""
    notes = []
    if not date:
        notes.append("no date, so the Hub shows that of the pull request; --date says when the model was asked.")
    if not space:
        notes.append("no source; --space names the Space with the result's row.")
    if without_revision:
        notes.append("no commit of the dataset: none that can be read here has the items which were answered.")
    return notes
