"""Commands for maintainers: `fairspace remake` and `fairspace train-parser`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairspace.submissions.commands.app import MAINTAIN, app, print_json
from fairspace.submissions.commands.shared.run_options import named_folder, need_run
from fairspace.submissions.errors import UsageError
from fairspace.submissions.running.errors import RunError


@app.command(
    epilog="Example: fairspace remake mine generation_neutral neutral/nurse 7 --out nurse.png",
    rich_help_panel=MAINTAIN,
)
def remake(
    submission: Annotated[
        Path, typer.Argument(help="What `fairspace run` wrote; its own files lie beside it.", metavar="SUBMISSION")
    ],
    task: Annotated[str, typer.Argument(help="Of the image.", metavar="TASK")],
    item: Annotated[str, typer.Argument(help="Its id.", metavar="ID")],
    sample: Annotated[int, typer.Argument(help="Its number.", min=0, metavar="SAMPLE")],
    out: Annotated[Path, typer.Option(help="File to write the image to.")],
    images: Annotated[
        str, typer.Option(help="The run's model, as it was named then; needed unless it is one of diffusers.")
    ] = "",
    device: Annotated[str, typer.Option(help="torch's device; a GPU if there is one.")] = "",
) -> None:
    """Make one image of a run again, alone; exit code 1 if it is not the one that was handed in."""
    need_run()
    from fairspace.submissions.running.folders import work_folder
    from fairspace.submissions.running.images.making import remake as remade

    if not out.parent.is_dir():
        raise UsageError(f"There is no folder {out.parent} to write {out.name} to; make it first.")
    image = remade(
        work_folder(named_folder(submission)) / "images" / task, task, item, sample, images=images, device=device
    )
    out.write_bytes(image.image)
    typer.echo(f"Wrote {out}: {'the same bytes' if image.same else 'other bytes'} as in the run.")
    if not image.same:
        mend = "compare the machines: other hardware, drivers or versions round in other ways"
        raise RunError("IMAGE_DIFFERS", f"{task}/{item}/{sample}", "another image", "the one that was handed in", mend)


@app.command(
    "train-parser",
    rich_help_panel=MAINTAIN,
    epilog="Example: fairspace train-parser --source UD_English-EWT --out en_ewt_small",
)
def train_parser(
    source: Annotated[Path, typer.Option(help="Folder of the three gzipped CoNLL-U files of UD English EWT.")],
    out: Annotated[Path, typer.Option(help="Folder to write the pipeline to.")],
) -> None:
    """Train the embedded English pipeline that GENRES' M3 and M5 run on (up to an hour on one core)."""
    from fairspace.submissions.benchmarks.genres.parser.train import train

    try:
        scores = train(source, out)
    except FileNotFoundError as error:
        raise UsageError(str(error)) from error
    print_json(scores)
