"""The commands that make and publish datasets: `fairspace build`, `sources` and `publish`."""

from __future__ import annotations

import errno
import json
import shlex
import shutil
import tempfile
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairspace.builders.engine.refusals import OPTION, REASON, read_refusals
from fairspace.builders.engine.tools import Tools
from fairspace.builders.errors import BuildError
from fairspace.builders.registry import NAMES
from fairspace.submissions.commands.app import MAKE, app
from fairspace.submissions.commands.score import _print_json
from fairspace.submissions.errors import UsageError, plain

if TYPE_CHECKING:
    from fairspace.builders.engine.dataset import Dataset, Manifest
    from fairspace.builders.publishing.artifacts import Artifact

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
    detector: Annotated[str, typer.Option(help="yolos:ID, ultralytics:FILE or boxes:FILE.")] = "",
    generator: Annotated[str, typer.Option(help="diffusers:ID of a text-to-image pipeline.")] = "",
    refiner: Annotated[str, typer.Option(help="diffusers:ID of the generator's refiner.")] = "",
    editor: Annotated[str, typer.Option(help="diffusers:ID of an InstructPix2Pix pipeline.")] = "",
    labeller: Annotated[str, typer.Option(help="ares or clip, which label perceived groups.")] = "",
    matcher: Annotated[str, typer.Option(help="clip:ID, which compares images and texts.")] = "",
    describer: Annotated[str, typer.Option(help="endpoint:URL#MODEL or file:JSONL of descriptions.")] = "",
    device: Annotated[str, typer.Option(help="Where models run: cpu, cuda, cuda:1; a GPU if there is one.")] = "",
    include: Annotated[str, typer.Option(help="Sources that are off by default: mst_e.")] = "",
    refused: Annotated[
        Path | None,
        typer.Option(
            help='JSON lines {"id": ..., "seed": ...} of images that a person refused: another is made for each. '
            "The others are made again, in a new --out, and come out the same."
        ),
    ] = None,
) -> None:
    """Build a dataset as Parquet shards with card, metadata and manifest; a stopped build goes on where it was."""
    from fairspace.builders.engine.alone import alone
    from fairspace.builders.engine.build import build as build_dataset
    from fairspace.builders.models.opening import open_tools
    from fairspace.builders.registry import dataset
    from fairspace.submissions.progress import reported

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
    if source is not None and out.resolve().is_relative_to(source.resolve()):
        raise UsageError(f"{out} lies in the sources' folder {source}; name an --out outside it.")
    failed = False
    with _sources(source, sample) as folder:
        if name == "all" and refused is not None:
            raise UsageError("--refused names images of one dataset; build that one.")
        if name != "all":
            _check_asked(dataset(name), named, include, refused)
        options = {OPTION: read_refusals(refused)} if refused is not None else {}
        included = {"include": include}
        answers = out / ".build" / "answers"
        tools = open_tools(**named, device=device, answers=answers)
        if sample:
            tools = _or_drawn(tools)
        for each in NAMES if name == "all" else (name,):
            target = out / each if name == "all" else out
            try:
                with alone(target), reported(f"Building {each}") as report:
                    manifest = build_dataset(
                        dataset(each),
                        target,
                        source=folder,
                        seed=seed,
                        sample=sample,
                        tools=tools,
                        options=options | (included if include in dataset(each).sources else {}),
                        progress=report,
                    )
            except KeyboardInterrupt:
                typer.secho("fairspace: stopped; the same command goes on where it was.", err=True)
                raise
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                raise UsageError(
                    f"No space is left for {target}. Free some; the same command goes on where it was."
                ) from error
            except BuildError as error:
                if name != "all":
                    raise
                failed = True
                _say(error)
                continue
            _built(target, manifest, refused)
    if name == "all":
        shutil.rmtree(answers.parent, ignore_errors=True)
        typer.echo(f"Next: look at the README.md of each, then fairspace publish datasets --built {_quoted(out)}")
    elif out.name == name:
        built = _quoted(out.parent)
        typer.echo(f"Next: look at {out / 'README.md'}, then fairspace publish {name} --built {built}")
    else:
        typer.echo(f"Next: look at {out / 'README.md'}; to publish it, name the folder {name}.")
    if failed:
        raise typer.Exit(1)


def _built(target: Path, manifest: Manifest, refused: Path | None) -> None:
    """Say what was built, what it left out, and which refusals met no image."""
    for split in manifest.splits:
        typer.echo(f"{target / split.config}: {split.split}, {split.rows} rows in {len(split.shards)} files")
    for note in manifest.notes:
        typer.echo(f"Note: {note}")
    if refused is not None:
        named, met = len(json.loads(manifest.options[OPTION])), manifest.rejected.get(REASON, 0)
        typer.echo(f"Refused by a person: {met} of the {named} images that {refused} names were met and made anew.")


def _say(error: BuildError) -> None:
    typer.secho(f"fairspace: {plain(str(error))}", fg="red", err=True)


def _quoted(path: Path) -> str:
    """As a shell takes it."""
    return shlex.quote(str(path))


def _check_asked(dataset: Dataset, named: Mapping[str, str], include: str, refused: Path | None) -> None:
    """UsageError for an option that this dataset would not use: it is most likely a mistake."""
    used = {*dataset.tools, *(["refiner"] if "generator" in dataset.tools else [])}
    for role, tool in named.items():
        if tool and role not in used:
            takes = ", ".join(f"--{known}" for known in named if known in used) or "no models"
            raise UsageError(f"{dataset.name} uses no {role}; it takes {takes}.")
    if refused is not None and "generator" not in dataset.tools:
        raise UsageError(f"{dataset.name} makes no images, so none can be refused.")
    if include and include not in dataset.sources:
        raise UsageError(f"{dataset.name} has no source {include!r}; it has {', '.join(dataset.sources) or 'none'}.")


def _or_drawn(tools: Tools) -> Tools:
    """The tools that the user named, and drawn ones where none was named."""
    from fairspace.builders.drawn.tools import sample_tools

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
    from fairspace.builders.drawn.sample_sources import write_sample_sources

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "sources"
        write_sample_sources(folder)
        yield folder


def sources(
    source: SourceOption = None, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False
) -> None:
    """List the sources that a person must obtain: licence, where to get them, and whether they were found."""
    from fairspace.builders.sources.listing import listing

    rows = listing(source)
    if as_json:
        typer.echo(json.dumps([asdict(row) for row in rows], ensure_ascii=False, indent=1, default=str))
        return
    for row in rows:
        typer.secho(f"{row.name}: {row.title}", bold=True)
        found = f"{row.found}, {row.images} images" if row.found else "no"
        absent = f"; but no {', '.join(row.absent)}" if row.absent else ""
        typer.echo(f"  found      {found}{absent}")
        typer.echo(f"  get it at  {row.address}")
        typer.echo(f"  put there  {(source or Path('SOURCE')) / row.name}: {', '.join(row.files)}")
        typer.echo(f"  licence    {row.licence}; images published: {row.published}")
        typer.echo(textwrap.fill(row.terms, 100, initial_indent="  terms      ", subsequent_indent=" " * 13) + "\n")


def publish(
    what: Annotated[list[str], typer.Argument(help="Datasets, metrics, ares, space; or datasets, metrics, all.")],
    built: Annotated[Path, typer.Option(help="Folder of builds, one subfolder per dataset.")] = Path("built"),
    ares: Annotated[Path, typer.Option(help="Folder of the trained classifier.")] = Path("built/ares"),
    namespace: Annotated[
        str, typer.Option(envvar="FAIRSPACE_NAMESPACE", help="User or organisation on the Hub.")
    ] = "fairspace",
    tag: Annotated[
        str | None, typer.Option(help="Tag of the standard, for example inaugural; it never moves. Not for the Space.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; print what would change.")] = False,
    allow_sample: Annotated[bool, typer.Option("--allow-sample", help="Publish sample builds too.")] = False,
) -> None:
    """Publish datasets, metrics, ARES and the Space: one commit each, only what changed, with the standard's tag."""
    from fairspace.builders.publishing.artifacts import choose

    try:
        artifacts = choose(what, built, ares, namespace, allow_sample)
    except KeyError as error:
        raise UsageError(str(error.args[0])) from error
    refused: list[BuildError | None] = [None]
    for number, artifact in enumerate(artifacts, 1):
        try:
            typer.echo(_publish(artifact, None if artifact.name == "space" else tag, dry_run))
        except BuildError as error:
            _say(error)
            last = refused[-1]
            refused.append(error)
            if last is not None and (last.code, last.what) == (error.code, error.what) and number < len(artifacts):
                left = ", ".join(other.name for other in artifacts[number:])
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


@app.command(
    "train-parser",
    rich_help_panel=MAKE,
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
    _print_json(scores)
