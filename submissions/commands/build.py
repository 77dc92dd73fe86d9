"""The command that makes datasets: `fairspace build`."""

from __future__ import annotations

import errno
import json
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairspace.builders.errors import BuildError
from fairspace.builders.names import NAMES
from fairspace.submissions.commands.app import MAKE, app
from fairspace.submissions.errors import UsageError, plain

if TYPE_CHECKING:
    from fairspace.builders.engine.dataset import Dataset, Manifest
    from fairspace.builders.engine.tools import Tools

SourceOption = Annotated[
    Path | None,
    typer.Option("--source", help="Folder of sources, one subfolder each; `fairspace sources` lists them."),
]


@app.command(epilog="Example: fairspace build genres --out built/genres", rich_help_panel=MAKE)
def build(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(NAMES)}; or all.", metavar="NAME")],
    out: Annotated[Path, typer.Option(help="Folder to build into, or to go on in; all makes subfolders.")],
    source: SourceOption = None,
    sample: Annotated[bool, typer.Option("--sample", help="A small, complete dataset from drawn images.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of every draw.", min=0)] = 0,
    detector: Annotated[str, typer.Option(help="yolos:ID or boxes:FILE.")] = "",
    generator: Annotated[str, typer.Option(help="diffusers:ID of a text-to-image pipeline.")] = "",
    refiner: Annotated[str, typer.Option(help="diffusers:ID of the generator's refiner.")] = "",
    editor: Annotated[str, typer.Option(help="diffusers:ID of an InstructPix2Pix pipeline.")] = "",
    labeller: Annotated[str, typer.Option(help="ares or clip, which label perceived groups.")] = "",
    matcher: Annotated[str, typer.Option(help="clip:ID or vqa:ID, which compares images and texts.")] = "",
    describer: Annotated[str, typer.Option(help="endpoint:URL#MODEL or file:JSONL of descriptions.")] = "",
    device: Annotated[
        str, typer.Option(help="Where models run: cpu, cuda, cuda:1; with commas, one for each process in turn.")
    ] = "",
    processes: Annotated[
        int, typer.Option(help="Processes that run the models, on the GPUs in turn; changes no byte.", min=1)
    ] = 1,
    include: Annotated[
        str, typer.Option(help="Content that is off by default: mst_e, or persons in stereotypical_bias.")
    ] = "",
    cohort: Annotated[
        Path | None,
        typer.Option(
            help="iris_steer_60: what `fairspace cohort` wrote; the pairs show its combinations, under a revision of "
            "their own."
        ),
    ] = None,
    refused: Annotated[
        Path | None,
        typer.Option(
            help='JSON lines {"id": ..., "seed": ...} of images that a person refused: another is made for each, '
            "in a new --out; the others come out the same."
        ),
    ] = None,
    reviewed: Annotated[
        Path | None,
        typer.Option(
            help="What `fairspace review agree` wrote: an image with a label that neither reviewer names is made again."
        ),
    ] = None,
    earlier: Annotated[
        Path | None,
        typer.Option(
            help="The build that --refused and --reviewed speak of: all other images are taken from it, not made again."
        ),
    ] = None,
) -> None:
    """Build a dataset as Parquet shards with card, metadata and manifest; a stopped build goes on where it was."""
    from fairspace.builders.engine import reviews
    from fairspace.builders.engine.alone import alone
    from fairspace.builders.engine.build import build as build_dataset
    from fairspace.builders.engine.processes import devices, in_processes
    from fairspace.builders.engine.refusals import OPTION, read_refusals
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
    with _sources(source, sample) as folder, ExitStack() as open_processes:
        if name == "all" and (refused or reviewed or earlier):
            raise UsageError("--refused, --reviewed and --earlier are about one dataset; build that one.")
        if name != "all":
            _check_asked(dataset(name), named, include, refused)
            if reviewed is not None and not dataset(name).questions:
                raise UsageError(f"{name} has no labels of images that reviewers are asked about.")
        datasets = {each: dataset(each) for each in (NAMES if name == "all" else (name,))}
        if cohort is not None:
            datasets = {name: _of_cohort(datasets, cohort)}
        options = {OPTION: read_refusals(refused)} if refused is not None else {}
        if reviewed is not None:
            options[reviews.OPTION] = reviews.read_reviews(reviewed)
        included = {"include": include}
        answers = out / ".build" / "answers"
        opener = partial(_opened, named, answers, sample)
        ranks = devices(device, processes)
        tools = opener(ranks[0])
        if processes > 1:
            tools = open_processes.enter_context(in_processes(opener, ranks, tools))
        for each in datasets:
            target = out / each if name == "all" else out
            try:
                with alone(target), reported(f"Building {each}") as report:
                    manifest = build_dataset(
                        datasets[each],
                        target,
                        source=folder,
                        seed=seed,
                        sample=sample,
                        tools=tools,
                        options=options | (included if include in datasets[each].includes else {}),
                        progress=report,
                        earlier=earlier,
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
                say_error(error)
                continue
            _built(target, manifest, refused)
            if cohort is not None:
                typer.echo(f"Its pairs are those of a revision of their own: --dataset-revision {manifest.revision}")
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
    from fairspace.builders.engine.refusals import OPTION, REASON

    for split in manifest.splits:
        typer.echo(f"{target / split.config}: {split.split}, {split.rows} rows in {len(split.shards)} files")
    for note in manifest.notes:
        typer.echo(f"Note: {note}")
    if refused is not None:
        named, met = len(json.loads(manifest.options[OPTION])), manifest.rejected.get(REASON, 0)
        typer.echo(f"Refused by a person: {met} of the {named} images that {refused} names were met and made anew.")


def say_error(error: BuildError) -> None:
    """Print an error after which the command goes on with the next dataset or artifact."""
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
    if include and include not in dataset.includes:
        raise UsageError(
            f"{dataset.name} cannot include {include!r}; it takes {', '.join(dataset.includes) or 'nothing'}."
        )


def _of_cohort(datasets: Mapping[str, Dataset], file: Path) -> Dataset:
    """The one dataset with a plan that follows a cohort. UsageError if there is none, or are several."""
    name, *others = datasets
    follow = datasets[name].of_cohort
    if others or follow is None:
        from fairspace.builders.registry import dataset

        having = ", ".join(each for each in NAMES if dataset(each).of_cohort is not None)
        raise UsageError(f"--cohort is for {having}; build that one.")
    return follow(datasets[name], file)


def _opened(named: Mapping[str, str], answers: Path, sample: bool, device: str) -> Tools:
    """The tools that the user named; in a sample, drawn ones where none was named."""
    from fairspace.builders.drawn.tools import sample_tools
    from fairspace.builders.models.opening import open_tools

    tools = open_tools(**named, device=device, answers=answers)
    if not sample:
        return tools
    drawn = sample_tools()
    return replace(drawn, **{role: tool for role in drawn.names() if (tool := getattr(tools, role)) is not None})


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
