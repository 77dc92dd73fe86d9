"""`fairspace publish`: datasets, metrics, ARES and the Space, on the Hub."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairspace.builders.errors import BuildError
from fairspace.submissions.commands.app import MAKE, app
from fairspace.submissions.commands.build import say_error
from fairspace.submissions.errors import UsageError

if TYPE_CHECKING:
    from fairspace.builders.publishing.artifacts import Artifact


@app.command(epilog="Example: fairspace publish all --built built --tag inaugural --dry-run", rich_help_panel=MAKE)
def publish(
    what: Annotated[list[str], typer.Argument(help="Datasets, metrics, ares, space; or datasets, metrics, all.")],
    built: Annotated[Path, typer.Option(help="Folder of builds, one subfolder per dataset.")] = Path("built"),
    ares: Annotated[Path, typer.Option(help="Folder of the trained classifier.")] = Path("built/ares"),
    namespace: Annotated[
        str, typer.Option(envvar="FAIRSPACE_NAMESPACE", help="User or organisation on the Hub.")
    ] = "fairspace",
    tag: Annotated[
        str | None, typer.Option(help="Tag of the standard, for example inaugural; it never moves. Not for the Space.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; print what would change.")] = False,
    allow_sample: Annotated[bool, typer.Option("--allow-sample", help="Publish sample builds too.")] = False,
) -> None:
    """Publish datasets, metrics, ARES and the Space: one commit each, only what changed, with the standard's tag."""
    from fairspace.builders.publishing.artifacts import choose

    try:
        artifacts = choose(what, built, ares, namespace, allow_sample)
    except KeyError as error:
        raise UsageError(str(error.args[0])) from error
    refused: list[BuildError | None] = [None]
    for number, artifact in enumerate(artifacts, 1):
        try:
            typer.echo(_publish(artifact, None if artifact.name == "space" else tag, dry_run))
        except BuildError as error:
            say_error(error)
            last = refused[-1]
            refused.append(error)
            if last is not None and (last.code, last.what) == (error.code, error.what) and number < len(artifacts):
                left = ", ".join(other.name for other in artifacts[number:])
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
