"""`fairspace publish WHAT...`: datasets, metrics, ARES and the Space, on the Hub."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairspace.builders.errors import BuildError
from fairspace.submissions.commands.app import MAKE, Group, command_group
from fairspace.submissions.commands.build import say_error
from fairspace.submissions.errors import UsageError

if TYPE_CHECKING:
    from fairspace.builders.publishing.artifacts import Artifact


NamespaceOption = Annotated[
    str, typer.Option("--namespace", envvar="FAIRSPACE_NAMESPACE", help="User or organisation on the Hub.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Change nothing; print what would change.")]


class _Publish(Group):
    """`fairspace publish` without the name of a command publishes the artifacts that are named there."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["artifacts", *args]
        return super().parse_args(ctx, args)


publishing = command_group(
    "publish",
    MAKE,
    "Publish on the Hub: `publish all`, datasets, metrics, ares, space or docs by name; `publish result` for a score.",
    cls=_Publish,
)


@publishing.command(epilog="Example: fairspace publish all --built built --tag inaugural --dry-run")
def artifacts(
    what: Annotated[list[str], typer.Argument(help="Datasets, metrics, ares, space; or datasets, metrics, all.")],
    built: Annotated[Path, typer.Option(help="Folder of builds, one subfolder per dataset.")] = Path("built"),
    ares: Annotated[Path, typer.Option(help="Folder of the trained classifier.")] = Path("built/ares"),
    namespace: NamespaceOption = "fairspace",
    tag: Annotated[
        str | None, typer.Option(help="Tag of the standard, for example inaugural; it never moves. Not for the Space.")
    ] = None,
    dry_run: DryRun = False,
    allow_sample: Annotated[bool, typer.Option("--allow-sample", help="Publish sample builds too.")] = False,
) -> None:
    """Publish datasets, metrics, ARES and the Space: one commit each, only what changed, with the standard's tag."""
    from fairspace.builders.publishing.artifacts import choose

    try:
        # A dry run publishes nothing, so a sample may be looked at as well.
        chosen = choose(what, built, ares, namespace, allow_sample or (dry_run and not tag), tag or "")
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
