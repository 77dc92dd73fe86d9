"""The commands that make and publish datasets: `fairspace build`, `sources` and `publish`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer

from builders.registry import NAMES
from builders.tools import Tools
from submissions.faults import UsageError

BUILD_EXAMPLE = "Example: fairspace build genres --out built/genres"
SOURCES_EXAMPLE = "Example: fairspace sources --source sources"
PUBLISH_EXAMPLE = "Example: fairspace publish all --built built --tag inaugural --dry-run"

SourceOption = Annotated[
    Path | None,
    typer.Option("--source", help="Folder of sources, one subfolder each; `fairspace sources` lists them."),
]


def build(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(NAMES)}; or all.", metavar="NAME")],
    out: Annotated[Path, typer.Option(help="Folder to build into, or to go on in; all makes subfolders.")],
    source: SourceOption = None,
    sample: Annotated[bool, typer.Option("--sample", help="A small, complete dataset from drawn images.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of every draw.", min=0)] = 0,
    detector: Annotated[str | None, typer.Option(help="yolos:ID, ultralytics:FILE or boxes:FILE.")] = None,
    generator: Annotated[str | None, typer.Option(help="diffusers:ID of a text-to-image pipeline.")] = None,
    refiner: Annotated[str | None, typer.Option(help="diffusers:ID of the generator's refiner.")] = None,
    editor: Annotated[str | None, typer.Option(help="diffusers:ID of an InstructPix2Pix pipeline.")] = None,
    labeller: Annotated[str | None, typer.Option(help="clip:ID, which labels perceived groups.")] = None,
    matcher: Annotated[str | None, typer.Option(help="clip:ID, which compares images and texts.")] = None,
    describer: Annotated[str | None, typer.Option(help="endpoint:URL#MODEL or file:JSONL of descriptions.")] = None,
    device: Annotated[str, typer.Option(help="Where models run: cpu, cuda, cuda:1, mps.")] = "cpu",
    include: Annotated[str, typer.Option(help="Sources that are off by default: mst_e.")] = "",
) -> None:
    """Build a dataset as Parquet shards with card, metadata and manifest; a stopped build goes on where it was."""
    from builders.models.opening import open_tools

    from builders.build import build as build_dataset
    from builders.registry import dataset
    from submissions.progress import reported

    if name != "all" and name not in NAMES:
        try:
            dataset(name)
        except KeyError as error:
            raise UsageError(str(error.args[0])) from error
    named = {
        "detector": detector,
        "generator": generator,
        "refiner": refiner,
        "editor": editor,
        "labeller": labeller,
        "matcher": matcher,
        "describer": describer,
    }
    options = {"include": include} if include else {}
    with _sources(source, sample) as folder:
        for each in NAMES if name == "all" else (name,):
            target = out / each if name == "all" else out
            tools = open_tools(**named, device=device)
            if sample:
                tools = _or_drawn(tools)
            with reported(f"Building {each}") as report:
                manifest = build_dataset(
                    dataset(each),
                    target,
                    source=folder,
                    seed=seed,
                    sample=sample,
                    tools=tools,
                    options=options,
                    progress=report,
                )
            for split in manifest.splits:
                typer.echo(f"{target / split.config}: {split.split}, {split.rows} rows in {len(split.shards)} files")
            for note in manifest.notes:
                typer.echo(f"Not in it: {note}")
    typer.echo(f"Next: look at {target / 'README.md'}, then fairspace publish {each} --built {target.parent}")


def _or_drawn(tools: Tools) -> Tools:
    """The tools that the user named, and drawn ones where none was named."""
    from builders.drawing import sample_tools

    drawn = sample_tools()
    return Tools(**{tool.name: getattr(tools, tool.name) or getattr(drawn, tool.name) for tool in fields(Tools)})


@contextmanager
def _sources(source: Path | None, sample: bool) -> Iterator[Path | None]:
    """The folder of sources: the user's, or drawn ones that last while a sample is built."""
    if source is not None and sample:
        raise UsageError("--sample draws its own sources; leave out --source.")
    if source is not None and not source.is_dir():
        raise UsageError(f"There is no folder {source}; --source names the folder that holds one subfolder per source.")
    if not sample:
        yield source
        return
    from builders.sample_sources import write_sample_sources

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "sources"
        write_sample_sources(folder)
        yield folder


def sources(source: SourceOption = None) -> None:
    """List the sources that a person must obtain: licence, where to get them, and whether they were found."""
    from builders.sources.listing import listing
    from rich.console import Console
    from rich.table import Table

    table = Table("source", "licence", "where to get it", "found", "images published", show_lines=True)
    rows = listing(source)
    for row in rows:
        found = str(row.found) if row.found else "no"
        table.add_row(f"{row.name}\n{row.title}", f"{row.licence}\n{row.terms}", row.address, found, row.published)
    Console().print(table)


def publish(
    what: Annotated[list[str], typer.Argument(help="Datasets, metrics, ares, space; or datasets, metrics, all.")],
    built: Annotated[Path, typer.Option(help="Folder of builds, one subfolder per dataset.")] = Path("built"),
    ares: Annotated[Path, typer.Option(help="Folder of the trained classifier.")] = Path("built/ares"),
    namespace: Annotated[
        str, typer.Option(envvar="FAIRSPACE_NAMESPACE", help="User or organisation on the Hub.")
    ] = "fairspace",
    tag: Annotated[str | None, typer.Option(help="Tag of the standard, for example inaugural; it never moves.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; print what would change.")] = False,
    allow_sample: Annotated[bool, typer.Option("--allow-sample", help="Publish sample builds too.")] = False,
) -> None:
    """Publish datasets, metrics, ARES and the Space: one commit each, only what changed, with the standard's tag."""
    from builders.hub import publish_repo

    from builders.artifacts import choose

    try:
        artifacts = choose(what, built, ares, namespace, allow_sample)
    except KeyError as error:
        raise UsageError(str(error.args[0])) from error
    for artifact in artifacts:
        with tempfile.TemporaryDirectory() as scratch:
            files = artifact.files(Path(scratch))
            outcome = publish_repo(artifact.repo, files, message=f"Publish {artifact.name}", tag=tag, dry_run=dry_run)
        typer.echo(outcome.text())
