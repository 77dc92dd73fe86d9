"""`fairspace join`: the parts of a run, of annotations or of a build as one."""

from pathlib import Path

import typer

from fairspace.submissions.commands.app import RUN, command

ANNOTATIONS = ("annotation.json", ".annotate")
"""Names in a folder of `fairspace ares annotate`, finished or not."""
BUILD = ".build"
"""Folder in an unfinished build."""


@command(RUN, "fairspace join mine.part-*-of-00008 --out mine")
def join(parts: list[Path], out: Path) -> None:
    """Join parts of a run or build, equal to those of one process; parts that overlap, differ or lack are refused.

    Parts of `fairspace ares annotate` may share a folder, which is then PART and --out.

    Options:
        parts (PART...): Folders of all parts (--part I/N).
        out: Folder to write; of a run it must not exist.
    """
    if any((part / name).exists() for part in parts for name in ANNOTATIONS):
        _join_annotations(parts, out)
    elif any((part / BUILD).is_dir() for part in parts):
        _join_builds(parts, out)
    else:
        _join_runs(parts, out)


def _join_runs(parts: list[Path], out: Path) -> None:
    from fairspace.submissions.running.joining import join as join_runs

    for stage in join_runs(parts, out):
        typer.echo(f"{stage.what}, {', '.join(stage.tasks)}: {stage.requests:,} of {len(parts)} parts")
    typer.echo(f"Wrote {out}. Next: fairspace check {out}")


def _join_annotations(parts: list[Path], out: Path) -> None:
    from fairspace.submissions.running.labelling import join_annotations

    counts = join_annotations(parts, out)["counts"]
    typer.echo(f"{out}: {counts['images']} images, {counts['rows']} rows of {len(parts)} folders")


def _join_builds(parts: list[Path], out: Path) -> None:
    from fairspace.builders.engine.build import join_parts

    typer.echo(
        f"{out}: {join_parts(parts, out)} shards. Next: the same fairspace build without a part, with --out {out}"
    )
