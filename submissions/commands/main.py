"""The command `fairspace`.

Exit codes: 0 done, 1 a submission, source, build or run is at fault, 2 wrong use, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import os
import sys

import typer

from fairspace.builders.errors import CodedError
from fairspace.submissions.commands import ares as cli_ares
from fairspace.submissions.commands import build as cli_builders
from fairspace.submissions.commands import probe as cli_probe
from fairspace.submissions.commands import run as cli_run
from fairspace.submissions.commands import space as cli_space
from fairspace.submissions.commands import standard as cli_standard
from fairspace.submissions.commands import store as cli_store
from fairspace.submissions.commands import validate as cli_validate
from fairspace.submissions.commands.app import MAKE, RUN, SCORE, SPACE, app, importing
from fairspace.submissions.commands.show import results as show
from fairspace.submissions.errors import UsageError, plain
from fairspace.submissions.format.faults import SubmissionError

app.command("plan", epilog=cli_run.PLAN_EXAMPLE, rich_help_panel=RUN)(cli_run.plan)
app.command("run", epilog=cli_run.RUN_EXAMPLE, rich_help_panel=RUN)(cli_run.run)
app.command("judge", epilog=cli_run.JUDGE_EXAMPLE, rich_help_panel=RUN)(cli_run.judge)
app.command("remake", epilog=cli_run.REMAKE_EXAMPLE, rich_help_panel=RUN)(cli_run.remake)
app.command("probe", epilog=cli_probe.PROBE_EXAMPLE, rich_help_panel=RUN)(cli_probe.probe)
app.add_typer(importing, name="import", rich_help_panel=RUN)
importing.command("inspect", epilog=cli_run.IMPORT_EXAMPLE)(cli_run.import_inspect)
app.add_typer(cli_ares.app, name="ares", rich_help_panel=MAKE)
app.add_typer(cli_standard.app, name="standard", rich_help_panel=SCORE)
app.add_typer(cli_store.app, name="store", rich_help_panel=SCORE)
ONLINE = ("ares", "build", "judge", "plan", "probe", "publish", "remake", "run")
"""The commands that may talk to the Hub: for models and datasets, and to publish."""
STOPPED = 130
"""Exit code after Ctrl-C, as shells have it."""


def main() -> None:
    """Run the command; wrong use and faults end it with a message, not a traceback."""
    names_model = any(word.partition("=")[0] == "--ares" for word in sys.argv[1:])
    names_hub = any("hf://" in word for word in (*sys.argv[1:], os.environ.get("FAIRSPACE_STORE", "")))
    offline = not set(sys.argv[1:2]) & set(ONLINE) and not names_model and not names_hub
    os.environ.setdefault("HF_HUB_OFFLINE", "1" if offline else "0")
    try:
        app()
    except UsageError as error:
        typer.secho(f"fairspace: {plain(str(error))}", fg="red", err=True)
        sys.exit(2)
    except SubmissionError as error:
        show.faults(error.faults)
        sys.exit(1)
    except CodedError as error:
        typer.secho(f"fairspace: {plain(str(error))}", fg="red", err=True)
        sys.exit(STOPPED if error.code == "RUN_STOPPED" else 1)
    except OSError as error:
        if error.filename is None:
            raise
        typer.secho(f"fairspace: {error.filename}: {error.strerror}.", fg="red", err=True)
        sys.exit(2)


app.command("validate", epilog=cli_validate.EXAMPLE, rich_help_panel=SCORE)(cli_validate.validate)
app.command("submit", epilog=cli_space.SUBMIT_EXAMPLE, rich_help_panel=SPACE)(cli_space.submit)
app.command("status", epilog=cli_space.STATUS_EXAMPLE, rich_help_panel=SPACE)(cli_space.status)
app.command("build", epilog=cli_builders.BUILD_EXAMPLE, rich_help_panel=MAKE)(cli_builders.build)
app.command("sources", epilog=cli_builders.SOURCES_EXAMPLE, rich_help_panel=MAKE)(cli_builders.sources)
app.command("publish", epilog=cli_builders.PUBLISH_EXAMPLE, rich_help_panel=MAKE)(cli_builders.publish)
