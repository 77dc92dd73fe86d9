"""The command `fairspace probe-canary`: whether a model was exposed to the file of a released dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairspace.submissions.commands.app import MAINTAIN, Json, app, print_json
from fairspace.submissions.commands.shared.run_options import (
    ArgumentOption,
    BaseUrlOption,
    ConnectionsOption,
    ModelOption,
    RetriesOption,
    TimeoutOption,
    need_run,
    provider_arguments,
)
from fairspace.submissions.errors import UsageError


@app.command(
    "probe-canary",
    rich_help_panel=MAINTAIN,
    epilog="Example: fairspace probe-canary genres/canary.txt --model openai/gpt-4o",
)
def probe_canary(
    file: Annotated[Path, typer.Argument(help="The canary.txt of a release.", metavar="FILE")],
    model: ModelOption,
    base_url: BaseUrlOption = "",
    argument: ArgumentOption = None,
    connections: ConnectionsOption = 16,
    retries: RetriesOption = 6,
    timeout: TimeoutOption = 300,
    as_json: Json = False,
) -> None:
    """Let a model continue the lines of a canary, beside lines that no file holds, and test whether it knows them.

    A small p shows that the model was exposed to this release's file. It does not show that a score is inflated, and a
    large p does not show that the model has never seen the items.
    """
    need_run()
    from fairspace.builders.publishing.canary import read_canary
    from fairspace.submissions.running.asking.models import ModelSettings
    from fairspace.submissions.running.canary import asker
    from fairspace.submissions.running.canary import probe_canary as probed

    if not file.is_file():
        raise UsageError(f"There is no file {file}; name the canary.txt of a release.")
    rows = read_canary(file)
    settings = ModelSettings(
        model, base_url, connections, retries, timeout, arguments=provider_arguments(argument or [])
    )
    exposure = probed(rows, asker(settings))
    if as_json:
        print_json(exposure.to_json())
        return
    typer.echo(f"Lines of the release that were continued: {exposure.continued} of {exposure.rows}.")
    typer.echo(f"Lines that no file holds: {exposure.control} of {exposure.rows}. Exact test: p = {exposure.p:.2g}.")
    shown = "was exposed to this release's file" if exposure.is_exposed else "shows no sign of this release's file"
    typer.echo(f"The model {shown}.")
