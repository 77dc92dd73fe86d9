"""`fairspace publish WHAT...`: datasets, metrics, ARES and the Space, on the Hub."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairspace.builders.errors import BuildError
from fairspace.submissions.commands.app import MAKE, app
from fairspace.submissions.commands.build import say_error
from fairspace.submissions.errors import UsageError

if TYPE_CHECKING:
    from fairspace.builders.publishing.artifacts import Artifact

STORE_TOKEN = "FAIRSPACE_STORE_TOKEN"  # noqa: S105 the name of a variable
_SECRET = re.compile(r".*(TOKEN|SECRET|KEY|PASSWORD).*")
OF_SPACE = "With space"


@app.command(epilog="Example: fairspace publish all --built built --tag inaugural --dry-run", rich_help_panel=MAKE)
def publish(
    what: Annotated[
        list[str], typer.Argument(help="Datasets, metrics, ares, space by name; or datasets, metrics, all.")
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
) -> None:
    """Publish datasets, metrics, ARES and the Space: one commit each, only what changed, with the standard's tag.

    `publish space` alone also sets up its store, its variables and its secrets, so that it takes submissions:
    FAIRSPACE_STORE_TOKEN holds the token that the Space writes its store with; a signing key is drawn once.
    """
    if what == ["space"]:
        _publish_space(namespace, store, variable or [], dry_run)
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
    failed = False
    for artifact in chosen:
        try:
            typer.echo(_publish(artifact, None if artifact.name == "space" else tag, dry_run))
            if artifact.sample and not allow_sample:
                typer.echo("  a sample build: publishing it takes --allow-sample")
        except BuildError as error:
            say_error(error)
            if error.code in ("HUB_REFUSED", "HUB_UNAVAILABLE"):  # the others would meet the same
                raise typer.Exit(1) from error
            failed = True
    if failed:
        raise typer.Exit(1)


def _publish(artifact: Artifact, tag: str | None, dry_run: bool) -> str:
    from fairspace.builders.publishing.repository import publish_repo

    with tempfile.TemporaryDirectory() as scratch:
        files = artifact.files(Path(scratch))
        message = f"Publish {artifact.name}"
        return publish_repo(artifact.repo, files, message=message, tag=tag, dry_run=dry_run).text()


def _publish_space(namespace: str, store: str, stated: list[str], dry_run: bool) -> None:
    from fairspace.builders.publishing.artifacts import choose
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
    typer.echo(_publish(space, None, dry_run))


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
