"""The command `fairspace report`: results as a page, a PDF, tables for a paper, CSV or Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairspace.submissions.commands.app import SCORE, app, check_places
from fairspace.submissions.commands.shared.checked import check_with_progress
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.faults import SubmissionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairspace.submissions.report.items import Group
    from fairspace.submissions.results.result import Result

_FILE = "FILE"


@app.command(
    epilog="Example: fairspace report mine.json theirs.json --html report.html --tex tables.tex", rich_help_panel=SCORE
)
def report(
    results: Annotated[
        list[Path], typer.Argument(help="What `fairspace score --out` wrote, a file for each model.", metavar="RESULT")
    ],
    html: Annotated[
        Path | None, typer.Option(help="Write one page that needs no network: figures, tables, answers.", metavar=_FILE)
    ] = None,
    pdf: Annotated[Path | None, typer.Option(help="Write that page as PDF.", metavar=_FILE)] = None,
    tex: Annotated[
        Path | None, typer.Option(help="Write tables with booktabs, methods and citations.", metavar=_FILE)
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(help="Write every score and raw value, a line each.", metavar=_FILE)
    ] = None,
    md: Annotated[Path | None, typer.Option(help="Write the tables and methods as Markdown.", metavar=_FILE)] = None,
    answers: Annotated[
        list[Path] | None,
        typer.Option(
            help="Submission that a result was scored from: the page also shows what could not be read in it and its "
            "frequent answers; can be given again.",
            metavar="SUBMISSION",
        ),
    ] = None,
    standard: Annotated[str, typer.Option(help="Standard to score all results under; their own if left out.")] = "",
) -> None:
    """Report results for readers: one model, or several side by side; Markdown to the terminal if no FILE is named."""
    for out in (html, pdf, tex, csv, md):
        check_places(out)
    from fairspace.submissions.report.contents import make_report
    from fairspace.submissions.report.texts import to_csv, to_latex, to_markdown
    from fairspace.submissions.results.scoring import load_result, rescore

    loaded = [load_result(path) for path in results]
    if standard:
        loaded = [rescore(result, standard) for result in loaded]
    contents = make_report(loaded, [item for path in answers or () for item in _items(path, loaded)])
    texts = [(tex, to_latex), (csv, to_csv), (md, to_markdown)]
    if html is not None or pdf is not None:
        from fairspace.submissions.report.page import to_html

        texts.append((html, to_html))
    for out, write in texts:
        if out is not None:
            out.write_text(write(contents), encoding="utf-8")
            typer.echo(f"Wrote {out}")
    if pdf is not None:
        from fairspace.submissions.report.pdf import write_pdf

        write_pdf(to_html(contents), pdf)
        typer.echo(f"Wrote {pdf}")
    if not any((html, pdf, tex, csv, md)):
        typer.echo(to_markdown(contents), nl=False)


def _items(path: Path, results: Sequence[Result]) -> list[Group]:
    """The answers of a submission to show. UsageError if none of the results was scored from it."""
    checked = check_with_progress(path)
    if checked.submission is None:
        raise SubmissionError(list(checked.faults))
    from fairspace.submissions.report.items import submission_items

    digest = checked.submission.digest
    models = [result.meta["model"] for result in results if result.signature.get("submission") == digest]
    if not models:
        raise UsageError(f"None of the results was scored from {path}: name the submission that `score` read.")
    return list(submission_items(checked.submission, str(models[0])))
