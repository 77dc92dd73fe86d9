"""`fairspace build` and `publish`: make datasets; put them, metrics, ARES and the Space on the Hub."""

from __future__ import annotations

import errno
import os
import re
import shlex
import tempfile
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fairspace.builders.errors import BuildError
from fairspace.builders.names import NAMES
from fairspace.submissions.commands.app import MAKE, command
from fairspace.submissions.commands.run_options import launched_part, pairs, to_join
from fairspace.submissions.errors import UsageError, did_you_mean, plain

if TYPE_CHECKING:
    from fairspace.builders.engine.dataset import BuildManifest, Dataset
    from fairspace.builders.engine.tools import Tools
    from fairspace.builders.publishing.artifacts import Artifact


ROLES = ("detector", "generator", "refiner", "editor", "labeller", "matcher", "describer")
"""Roles of the tools that a build may use."""


@command(MAKE, "fairspace build genres --out built/genres")
def build(
    name: str,
    out: Path | None = None,
    source: Path | None = None,
    list_sources: bool = False,
    sample: bool = False,
    tool: list[str] | None = None,
    device: str = "",
    include: str = "",
    cohort: list[Path] | None = None,
    reviewed: Path | None = None,
    part: str = "",
) -> None:
    """Build a dataset as Parquet shards with card, metadata and manifest; a stopped build goes on where it was.

    Options:
        name (NAME): One of {DATASETS}; or all.
        out: Folder to build into, or to go on in; all makes subfolders.
        source: Folder of sources, one subfolder each.
        list_sources: Build nothing; list what a person must obtain: licence, address, what was found.
        sample: A small, complete dataset from drawn images.
        tool (metavar=ROLE=TOOL): ROLE=SCHEME:ID, can be given again: detector (yolos:, onnx:FILE, boxes:FILE,
            ultralytics:FILE?sha256=HASH), generator, refiner, editor (diffusers:), labeller (ares, clip), matcher
            (clip:), describer (endpoint:URL#MODEL, file:JSONL).
        device: Where models run: cpu, cuda, cuda:1.
        include: Content that is off by default: mst_e, or in stereotypical_bias persons; modscan for that revision.
        cohort: iris_steer_60: a submission to iris, of one model each; can be given again. The pairs show the
            combinations that these models name most (C.2), under a revision of their own.
        reviewed: JSON lines {"id", "seed"} of images that a person refused: another is made for each, in a new --out;
            or of reviewed images, with "confirmed", "disputed", "failed", three lists of columns.
    """
    from fairspace.builders.engine.build import build as build_dataset
    from fairspace.builders.engine.build import build_part
    from fairspace.builders.engine.output import alone
    from fairspace.builders.engine.reviews import REVIEWED, read_reviews
    from fairspace.builders.part import part_folder
    from fairspace.builders.registry import dataset
    from fairspace.submissions.progress import reported

    part, _ = launched_part(part, out if name != "all" else None)
    if name != "all" and name not in NAMES:
        try:
            dataset(name)
        except KeyError as error:
            raise UsageError(str(error.args[0])) from error
    if list_sources:
        _list_sources(source)
        return
    if out is None:
        raise UsageError("Name the folder to build into with --out.")
    specs = dict.fromkeys(ROLES, "") | pairs("--tool", tool or [])
    if unknown := [role for role in specs if role not in ROLES]:
        raise UsageError(f"--tool {unknown[0]}{did_you_mean(unknown[0], ROLES)}: one of {', '.join(ROLES)}.")
    if source is not None and out.resolve().is_relative_to(source.resolve()):
        raise UsageError(f"{out} lies in the sources' folder {source}; name an --out outside it.")
    failed = False
    with _sources(source, sample) as folder:
        if name == "all" and reviewed:
            raise UsageError("--reviewed is about one dataset; build that one.")
        if name != "all":
            _check_asked(dataset(name), specs, include, reviewed)
        datasets = {each: dataset(each).edition(include) for each in (NAMES if name == "all" else (name,))}
        if cohort:
            datasets = {name: _of_cohort(datasets, cohort)}
        options = {REVIEWED: read_reviews(reviewed)} if reviewed is not None else {}
        included = {"include": include}
        tools = _opened(specs, sample, device)
        for each in datasets:
            whole = out / each if name == "all" else out
            target = part_folder(whole, part)
            try:
                with alone(target), reported(f"Building {each}") as report:
                    settings: Any = {"source": folder, "sample": sample, "tools": tools, "progress": report}
                    settings["options"] = options | (included if include in datasets[each].includes else {})
                    if part:
                        shards = build_part(datasets[each], target, part, **settings)
                    else:
                        manifest = build_dataset(datasets[each], target, **settings)
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
            if part:
                typer.echo(f"{target}: {shards} shards. Next: {to_join(target, part)}")
                continue
            _built(target, manifest, reviewed)
            if cohort:
                typer.echo(f"A revision of its own, which runs with this --data ask by default: {manifest.revision}")
    if part:
        typer.echo("Then the same command without --part (--part 0/1 under a launcher) ends the build.")
    elif name == "all":
        typer.echo(f"Next: look at the README.md of each, then fairspace publish datasets --built {_quoted(out)}")
    elif out.name == name:
        built = _quoted(out.parent)
        typer.echo(f"Next: look at {out / 'README.md'}, then fairspace publish {name} --built {built}")
    else:
        typer.echo(f"Next: look at {out / 'README.md'}; to publish it, name the folder {name}.")
    if failed:
        raise typer.Exit(1)


def _built(target: Path, manifest: BuildManifest, reviewed: Path | None) -> None:
    """Say what was built, what it left out, and which refusals met no image."""
    from fairspace.builders.engine.reviews import REASON, Reviews

    for split in manifest.splits:
        typer.echo(f"{target / split.config}: {split.split}, {split.rows} rows in {len(split.shards)} files")
    for note in manifest.notes:
        typer.echo(f"Note: {note}")
    if reviewed is not None:
        count, met = len(Reviews(manifest.options).refused()), manifest.rejected.get(REASON, 0)
        typer.echo(f"Refused by a person: {met} of the {count} images that {reviewed} refuses were met and made anew.")


def say_error(error: BuildError) -> None:
    """Print an error after which the command goes on with the next dataset or artifact."""
    typer.secho(f"fairspace: {plain(str(error))}", fg="red", err=True)


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _check_asked(dataset: Dataset, specs: Mapping[str, str], include: str, reviewed: Path | None) -> None:
    """UsageError for an option that this dataset would not use: it is most likely a mistake."""
    used = {*dataset.tools, *(["refiner"] if "generator" in dataset.tools else [])}
    for role, tool in specs.items():
        if tool and role not in used:
            takes = ", ".join(name for name in specs if name in used) or "no models"
            raise UsageError(f"{dataset.name} uses no {role}; it takes {takes}.")
    if reviewed is not None and "generator" not in dataset.tools:
        raise UsageError(f"{dataset.name} makes no images, so none can be refused.")
    if include and include not in dataset.includes:
        raise UsageError(
            f"{dataset.name} cannot include {include!r}; it takes {', '.join(dataset.includes) or 'nothing'}."
        )


def _of_cohort(datasets: Mapping[str, Dataset], models: Sequence[Path]) -> Dataset:
    """The one dataset with a plan that follows a cohort. UsageError if there is none, or are several."""
    name, *others = datasets
    follow = datasets[name].of_cohort
    if others or follow is None:
        from fairspace.builders.registry import dataset

        having = ", ".join(each for each in NAMES if dataset(each).of_cohort is not None)
        raise UsageError(f"--cohort is for {having}; build that one.")
    from fairspace.answers import submission_of
    from fairspace.submissions.benchmarks.iris.cohort import cohort_combinations

    return follow(datasets[name], cohort_combinations([submission_of(path, allow_images=False) for path in models]))


def _opened(specs: Mapping[str, str], sample: bool, device: str) -> Tools:
    """The tools that the user named; in a sample, drawn ones where none was named."""
    from fairspace.builders.drawn.tools import sample_tools
    from fairspace.builders.models.opening import open_tools

    tools = open_tools(**specs, device=device)
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


def _list_sources(source: Path | None) -> None:
    """Print the sources that a person must obtain: licence, where to get them, and whether they were found."""
    from fairspace.builders.sources import SOURCES, count_images

    for row in SOURCES.values():
        typer.secho(textwrap.fill(f"{row.name}: {row.title}", 80), bold=True)
        there = row.found(source)
        absent = f"; but no {', '.join(row.absent(there))}" if there and row.absent(there) else ""
        facts = {
            "found": f"{there}, {count_images(there)} images{absent}" if there else "no",
            "get it at": row.address,
            "put there": f"{(source or Path('SOURCE')) / row.name}: {', '.join(row.files)}",
            "licence": f"{row.licence}; images published: {row.published}",
            "terms": row.terms,
        }
        for label, text in facts.items():
            typer.echo(textwrap.fill(f"  {label:<10} {text}", 80, subsequent_indent=" " * 13, break_long_words=False))
        typer.echo()


STORE_TOKEN = "FAIRSPACE_STORE_TOKEN"  # noqa: S105 the name of a variable
_SECRET = re.compile(r".*(TOKEN|SECRET|KEY|PASSWORD).*")


@command(MAKE, "fairspace publish all --built built --tag inaugural --dry-run")
def publish(
    what: list[str],
    built: Path = Path("built"),
    namespace: str = "fairspace",
    tag: str | None = None,
    dry_run: bool = False,
    allow_sample: bool = False,
    store: str = "",
    variable: list[str] | None = None,
) -> None:
    """Publish datasets, metrics, ARES and the Space: one commit each, only what changed, with the standard's tag.

    `publish space` alone also sets up its store, its variables and its secrets, so that it takes submissions:
    FAIRSPACE_STORE_TOKEN holds the token that the Space writes its store with; a signing key is drawn once.

    Options:
        what (argument): Datasets, metrics, ares, space by name; or datasets, metrics, all.
        built: Folder of builds, one subfolder per dataset.
        namespace (envvar=FAIRSPACE_NAMESPACE): User or organisation on the Hub.
        tag: Tag of the standard, for example inaugural; it never moves. Not for the Space.
        dry_run: Change nothing; print what would change.
        allow_sample: Publish sample builds too.
        store (rich_help_panel=With space): Private dataset for results, OWNER/NAME; the Space keeps the one that it
            has, or gets NAMESPACE/leaderboard-store.
        variable (metavar=NAME=VALUE, rich_help_panel=With space): A setting of OPERATION.md; can be given again.
    """
    if what == ["space"]:
        _publish_space(namespace, store, variable or [], dry_run)
    else:
        _publish_artifacts(what, built, namespace, tag, dry_run, allow_sample)


def _publish_artifacts(
    what: Sequence[str], built: Path, namespace: str, tag: str | None, dry_run: bool, allow_sample: bool
) -> None:
    from fairspace.builders.publishing.artifacts import choose

    try:
        # A dry run publishes nothing, so a sample may be looked at as well.
        artifacts = choose(what, built, built / "ares", namespace, allow_sample or (dry_run and not tag), tag or "")
    except KeyError as error:
        raise UsageError(str(error.args[0])) from error
    if dry_run:  # what is known here, before the Hub is asked
        for artifact in artifacts:
            typer.echo(f"Would publish {artifact.repo.name}")
            if artifact.sample and not allow_sample:
                typer.echo("  a sample build: publishing it takes --allow-sample")
    failed = False
    for artifact in artifacts:
        try:
            typer.echo(_publish(artifact, None if artifact.name == "space" else tag, dry_run))
        except BuildError as error:
            say_error(error)
            if error.code in ("HUB_REFUSED", "HUB_UNAVAILABLE"):  # the others would meet the same
                raise typer.Exit(1) from error
            failed = True
    if failed:
        raise typer.Exit(1)


def _publish(artifact: Artifact, tag: str | None, dry_run: bool) -> str:
    from fairspace.builders.publishing.repository import publish_repo

    with tempfile.TemporaryDirectory() as scratch:
        files = artifact.files(Path(scratch))
        message = f"Publish {artifact.name}"
        return publish_repo(artifact.repo, files, message=message, tag=tag, dry_run=dry_run).text()


def _publish_space(namespace: str, store: str, stated: list[str], dry_run: bool) -> None:
    from fairspace.builders.publishing.artifacts import choose
    from fairspace.builders.publishing.space_settings import ON_HUB, STORE, set_up_space

    variables = _variables(stated)
    if store:
        variables[STORE] = f"{ON_HUB}{store}"
    [space] = choose(["space"], Path(), Path(), namespace, allow_sample=False)
    if dry_run:
        typer.echo(f"Would publish {space.repo.name}")
    for line in set_up_space(
        space.repo,
        variables,
        store=f"{namespace}/leaderboard-store",
        store_token=os.environ.get(STORE_TOKEN, "").strip(),
        dry_run=dry_run,
    ):
        typer.echo(f"{line[0].upper()}{line[1:]}.")
    typer.echo(_publish(space, None, dry_run))


def _variables(stated: list[str]) -> dict[str, str]:
    """Variables by name. UsageError for one that is none, is a secret, or that a Space could not start with."""
    from fairspace.leaderboard_space.settings import Settings

    variables: dict[str, str] = {}
    for text in stated:
        name, equals, value = text.partition("=")
        if not equals or not re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
            raise UsageError(f"--variable {text!r} is no NAME=VALUE, such as FAIRSPACE_ADMINS=ann.")
        if _SECRET.fullmatch(name):
            raise UsageError(f"{name} looks like a secret, and everybody can read variables; set it on the Hub.")
        variables[name] = value
    Settings.from_environment(variables)
    return variables
