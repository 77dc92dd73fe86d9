"""`fairspace publish space`: the Space with its store, its variables and its secrets."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from fairspace.submissions.commands.publishing.artifacts import DryRun, NamespaceOption, publishing
from fairspace.submissions.errors import UsageError

STORE_TOKEN = "FAIRSPACE_STORE_TOKEN"  # noqa: S105 the name of a variable
_SECRET = re.compile(r".*(TOKEN|SECRET|KEY|PASSWORD).*")


@publishing.command("space", epilog="Example: fairspace publish space --variable FAIRSPACE_ADMINS=ann --dry-run")
def publish_space(
    namespace: NamespaceOption = "fairspace",
    store: Annotated[
        str,
        typer.Option(
            help="Private dataset for results, OWNER/NAME; the Space keeps the one that it has, or gets "
            "NAMESPACE/leaderboard-store."
        ),
    ] = "",
    variable: Annotated[
        list[str] | None,
        typer.Option(help="A setting of OPERATION.md; can be given again.", metavar="NAME=VALUE"),
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Publish the Space whole: its store, variables and secrets first, then its files, so that it takes submissions.

    FAIRSPACE_STORE_TOKEN holds the token that the Space writes its store with; a signing key is drawn once.
    """
    from fairspace.builders.publishing.artifacts import choose
    from fairspace.builders.publishing.repository import publish_repo
    from fairspace.builders.publishing.space_settings import ON_HUB, STORE, set_up_space

    variables = _checked(variable or [])
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


def _checked(stated: list[str]) -> dict[str, str]:
    """Variables by name. UsageError for one that is none, is a secret, or that a Space could not start with."""
    from fairspace.leaderboard_space.settings import Settings

    variables = {}
    for text in stated:
        name, equals, value = text.partition("=")
        if not equals or not re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
            raise UsageError(f"--variable {text!r} is no NAME=VALUE, such as FAIRSPACE_ADMINS=ann.")
        if _SECRET.fullmatch(name):
            raise UsageError(f"{name} looks like a secret, and everybody can read variables; set it on the Hub.")
        variables[name] = value
    Settings.from_environment(variables)
    return variables
