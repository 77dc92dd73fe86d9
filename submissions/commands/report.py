"""The command `fairspace report`: results as a page, tables for a paper, CSV, Markdown, or as Every Eval Ever."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairspace.submissions.commands.app import SCORE, app, check_places
from fairspace.submissions.commands.shared.checked import checked_submission
from fairspace.submissions.errors import UsageError

FORMATS = (".html", ".tex", ".csv", ".md")


@app.command(
    epilog="Example: fairspace report mine.json theirs.json --out report.html --out tables.tex", rich_help_panel=SCORE
)
def report(
    results: Annotated[
        list[Path], typer.Argument(help="What `fairspace score --out` wrote, a file for each model.", metavar="RESULT")
    ],
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="FILE.html: one page that needs no network. FILE.tex: tables with booktabs, methods, citations. "
            "FILE.csv: every score and raw value, a line each. FILE.md: tables and methods. Can be given again.",
            metavar="FILE",
        ),
    ] = None,
    eee: Annotated[
        Path | None, typer.Option("--eee", help="Folder for the layout of Every Eval Ever 0.3, data/fairspace/...")
    ] = None,
    answers: Annotated[
        Path | None, typer.Option(help="With --eee: the submission that was scored; its answers are exported too.")
    ] = None,
) -> None:
    """Report results for readers: one model, or several side by side; Markdown to the terminal if no FILE is named."""
    files = out or []
    for file in files:
        check_places(file)
        if file.suffix not in FORMATS:
            raise UsageError(f"--out {file.name}: expected a name that ends in one of {', '.join(FORMATS)}.")
    if answers is not None and (eee is None or len(results) > 1):
        raise UsageError("--answers are those of one result for --eee; name both, and one result.")
    from fairspace.submissions.report.contents import make_report, to_csv, to_latex, to_markdown
    from fairspace.submissions.results.scoring import load_result

    loaded = [load_result(path) for path in results]
    if eee is not None:
        from fairspace.submissions.exchange.every_eval_ever import export

        submission = None if answers is None else checked_submission(answers)
        for result in loaded:
            for file in export(result, eee, submission):
                typer.echo(f"Wrote {file}")
        if not files:
            return
    contents = make_report(loaded)
    for file in files:
        if file.suffix == ".html":
            from fairspace.submissions.report.page import to_html as write
        else:
            write = {".tex": to_latex, ".csv": to_csv, ".md": to_markdown}[file.suffix]
        file.write_text(write(contents), encoding="utf-8")
        typer.echo(f"Wrote {file}")
    if not files:
        typer.echo(to_markdown(contents), nl=False)
