"""The artifacts to publish: the repository of each on the Hub, and its files.

Datasets come from finished builds, metrics and the Space from this software's own folders, ARES from a trained model's
folder. Rows whose image must not be passed on keep ids, labels, file name, hash and crop; `join_images.py` beside them
restores images from the user's own copy.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from fairspace import __version__
from fairspace.builders.engine.build import MANIFEST, dumps, file_hash, read_manifest
from fairspace.builders.engine.dataset import Dataset, Shard, expect
from fairspace.builders.errors import BuildError
from fairspace.builders.publishing.repository import Repo
from fairspace.builders.registry import NAMES, dataset
from fairspace.builders.sources import SOURCES
from fairspace.cards.dataset_card import check_card
from fairspace.cards.metric_card import metric_card

ORIGIN = "origin"
"""The column that names a row's source."""


def public_copy(dataset: Dataset, built: Path, scratch: Path, namespace: str) -> Mapping[str, Path]:
    """The files of a dataset's repository, path in it -> file in `scratch`, an empty folder, from a finished build.

    The card's examples name the namespace. BuildError BUILD_INCOMPLETE if the build is unfinished or damaged,
    BUILD_CHECK if restricted images have no origin.
    """
    from fairspace.cards.dataset_card import write_cards

    manifest, left_out = read_manifest(built), []
    kept_back = {name for name, source in SOURCES.items() if not source.redistribute}
    splits = []
    for split in manifest.splits:
        where = f"{dataset.name}, {split.config}/{split.split}"
        if kept_back & set(dataset.sources) and ORIGIN not in split.counts:
            images = _images(pq.read_schema(built / split.shards[0].file))
            expect(not images, where, f"images without {ORIGIN}", "their source")
        hidden = sum(rows for origin, rows in split.counts.get(ORIGIN, {}).items() if origin in kept_back)
        if hidden:
            shards = tuple(_public_shard(shard, built, scratch, kept_back) for shard in split.shards)
            splits.append(replace(split, shards=shards))
            what = f"{hidden} rows of {split.config}/{split.split}"
            left_out.append(f"the images of {what}, whose source does not let them be passed on")
            continue
        splits.append(split)
        for shard in split.shards:
            link = scratch / shard.file
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to((built / shard.file).resolve())
    public = replace(manifest, splits=tuple(splits), notes=(*manifest.notes, *left_out))
    write_cards(scratch, dataset, public, namespace)
    (scratch / MANIFEST).write_text(dumps(public), encoding="utf-8")
    names = ["README.md", MANIFEST]
    if left_out:
        names.append("join_images.py")
        (scratch / "join_images.py").write_bytes((Path(__file__).parent / "join_images.py").read_bytes())
    names += [shard.file for split in splits for shard in split.shards]
    return {name: scratch / name for name in names}


def _images(schema: pa.Schema) -> list[str]:
    from datasets import Features, Image

    return [name for name, kind in Features.from_arrow_schema(schema).items() if isinstance(kind, Image)]


def _public_shard(shard: Shard, built: Path, scratch: Path, kept_back: Set[str]) -> Shard:
    """The shard without the images of the sources in `kept_back`."""
    from datasets import Features

    file = scratch / shard.file
    file.parent.mkdir(parents=True, exist_ok=True)
    with pq.ParquetFile(built / shard.file) as source:
        schema = source.schema_arrow
        shows = pa.array([label not in kept_back for label in Features.from_arrow_schema(schema)[ORIGIN].names])
        with pq.ParquetWriter(file, schema, compression="snappy", write_page_index=True) as writer:
            for group in range(source.num_row_groups):
                table = source.read_row_group(group)
                shown = shows.take(table[ORIGIN].combine_chunks())
                for name in _images(schema):
                    nothing = pa.nulls(table.num_rows, table.schema.field(name).type)
                    kept = pc.if_else(shown, table[name].combine_chunks(), nothing)
                    table = table.set_column(table.column_names.index(name), table.schema.field(name), kept)
                writer.write_table(table)
    return Shard(shard.file, file_hash(file), file.stat().st_size, shard.rows)


ROOT = Path(__file__).parents[2]
"""The package: in a clone, its folders are links to those beside it."""
PACKAGES = ("ares", "builders", "cards", "leaderboard_space", "metrics", "submissions")
SAMPLE_TAG = "sample-"
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?P<extras>\[[\w,-]+\])?")
_LEFT_OUT = {"__pycache__", ".DS_Store"}
Files = Mapping[str, Path | bytes]


@dataclass(frozen=True)
class Artifact:
    """One thing to publish; `files` maps an empty scratch folder to path in the repository -> file or content."""

    name: str
    repo: Repo
    files: Callable[[Path], Files]
    sample: bool = False


def metric_names() -> list[str]:
    """Every metric, in order."""
    return sorted(folder.name for folder in (ROOT / "metrics").iterdir() if (folder / f"{folder.name}.py").is_file())


def choose(
    what: Sequence[str], built: Path, ares: Path, namespace: str, allow_sample: bool, tag: str = ""
) -> list[Artifact]:
    """The artifacts that the user's words mean, in the order of publishing.

    Words are names of datasets and metrics (a shared name means both), `datasets`, `metrics`, `ares`, `space`, `all`;
    `all` and `datasets` mean built datasets, `all` means ARES if it is trained. The tag of a release never moves,
    unless it begins with `SAMPLE_TAG`. KeyError for an unknown name, BuildError BUILD_INCOMPLETE for a dataset that is
    not built, TAG_OF_SAMPLE.
    """
    release = "" if tag.startswith(SAMPLE_TAG) else tag
    if release and allow_sample:
        expected = f"full builds, or a tag that begins with {SAMPLE_TAG}"
        mend = f"leave out --allow-sample, or publish as --tag {SAMPLE_TAG}{tag}"
        raise BuildError("TAG_OF_SAMPLE", f"--tag {tag}", "--allow-sample beside a release's tag", expected, mend)
    names = [*NAMES, *metric_names(), "datasets", "metrics", "ares", "space", "docs", "all"]
    for word in what:
        if word not in names:
            raise KeyError(f"There is nothing called {word!r} to publish. Known: {', '.join(names)}.")
    everything = "all" in what
    artifacts: list[Artifact] = []
    for name in NAMES:
        if name in what or ((everything or "datasets" in what) and (built / name).is_dir()):
            artifacts.append(_dataset(name, built / name, namespace, allow_sample))
    if "datasets" in what and not artifacts:
        mend = f"run `fairspace build NAME --out {built / 'NAME'}`, or name the folder with --built"
        raise BuildError("BUILD_INCOMPLETE", str(built), "no dataset is built there", "one subfolder per dataset", mend)
    artifacts += [
        _metric(name, namespace) for name in metric_names() if name in what or everything or "metrics" in what
    ]
    if "ares" in what or (everything and (ares / "config.json").is_file()):
        artifacts.append(_ares(ares, namespace, release))
    if "space" in what or everything:
        artifacts.append(_space(namespace))
    if "docs" in what:
        artifacts.append(_docs(namespace))
    return artifacts


def _dataset(name: str, built: Path, namespace: str, allow_sample: bool) -> Artifact:
    declared, manifest = dataset(name), read_manifest(built)
    if manifest.sample and not allow_sample:
        mend = "build it without --sample; to try publishing on a Hub of your own, add --allow-sample"
        raise BuildError("BUILD_INCOMPLETE", str(built), "a sample build", "a full build", mend)
    repo = Repo(f"{namespace}/{name}", "dataset", gated=declared.gated)
    return Artifact(name, repo, lambda scratch: public_copy(declared, built, scratch, namespace), manifest.sample)


def _metric(name: str, namespace: str) -> Artifact:
    folder = ROOT / "metrics" / name
    card = metric_card(folder)
    check_card(card, "space", f"metrics/{name}/README.md")
    files: Files = {**metric_files(folder), "README.md": card.encode()}
    return Artifact(name, Repo(f"{namespace}/{name}", "space", sdk="gradio"), lambda scratch: files)


_SHARED = re.compile(r"^( *from )fairspace\.metrics(\.\w+ import)", re.MULTILINE)


def metric_files(folder: Path) -> dict[str, bytes]:
    """A metric's folder that stands alone: beside its own files the page, and the shared modules that they import."""
    files: dict[str, bytes] = {}
    waiting = [*_folder(folder), ("app.py", ROOT / "metrics" / "app.py")]
    while waiting:
        path, file = waiting.pop()
        text = file.read_text(encoding="utf-8")
        names = {f"{match[2].split()[0][1:]}.py" for match in _SHARED.finditer(text)}
        waiting += [(name, ROOT / "metrics" / name) for name in sorted(names - {*files, path})]
        files[path] = _SHARED.sub(r"\1\2", text).encode()
    main = f"{folder.name}.py"  # `evaluate` copies what this one file imports
    shared = sorted(
        name.removesuffix(".py") for name in files if (ROOT / "metrics" / name).exists() and name != "app.py"
    )
    lines = "".join(f"from .{name} import __doc__ as _{name}\n" for name in shared)
    files[main] = files[main].replace(b"from .metric import", f"{lines}from .metric import".encode(), 1)
    return files


def _ares(folder: Path, namespace: str, release: str) -> Artifact:
    """The classifier: weights and JSON of its folder, this software's code beside them, and its card."""
    from fairspace.ares.evaluating.measurement import check_measured, check_trained, release_files
    from fairspace.cards.model_card import model_card

    repo_id = f"{namespace}/ares"
    released = release_files(folder)
    if release:
        check_trained(folder, release)
        check_measured(folder, release)

    def files(scratch: Path) -> Files:
        return {**released, "README.md": model_card(folder, repo_id).encode()}

    return Artifact("ares", Repo(repo_id, "model"), files)


def _space(namespace: str) -> Artifact:
    """The board: this software's packages, the page's own start file, and its requirements."""

    def files(scratch: Path) -> Files:
        space_files: dict[str, Path | bytes] = {
            "fairspace/__init__.py": ROOT / "__init__.py",
            "fairspace/VERSION": f"{__version__}\n".encode(),
            "fairspace/constraints.txt": ROOT / "constraints.txt",
        }
        for package in PACKAGES:
            space_files |= {f"fairspace/{package}/{path}": file for path, file in _folder(ROOT / package)}
        space_files["app.py"] = space_files["fairspace/leaderboard_space/__main__.py"]
        space_files["README.md"] = card.replace("  - fairspace/", f"  - {namespace}/").encode()
        space_files["requirements.txt"] = "".join(f"{line}\n" for line in space_requirements()).encode()
        return space_files

    card = (ROOT / "leaderboard_space" / "README.md").read_text(encoding="utf-8")
    check_card(card, "space", "leaderboard_space/README.md")
    return Artifact("space", Repo(f"{namespace}/leaderboard", "space", sdk="gradio"), files)


def _docs(namespace: str) -> Artifact:
    """The documentation: a static Space, built from a clone and therefore not part of `all`."""
    from fairspace.cards.site.building import CARD, site_files

    check_card(CARD, "space", "cards/site/building.py")
    return Artifact("docs", Repo(f"{namespace}/docs", "space", sdk="static"), site_files)


EXTRAS = ("space", "text")


def space_requirements() -> list[str]:
    """Requirements of the Space, each with the version that `constraints.txt` pins, as for released standards.

    The base packages and `EXTRAS`, as this software declares them, and their pinned requirements. In a clone the
    installed metadata may be older than the declaration.
    """
    declared = ROOT.resolve().parent / "pyproject.toml"
    if declared.is_file():
        project = tomllib.loads(declared.read_text(encoding="utf-8"))["project"]
        lines = [
            *project["dependencies"],
            *(requirement for extra in EXTRAS for requirement in project["optional-dependencies"][extra]),
        ]
    else:
        extra = re.compile(rf'extra == "(?!(?:{"|".join(EXTRAS)})")')
        lines = [line for line in requires("fairspace") or [] if not extra.search(line)]
    wanted = [_REQUIREMENT.match(line) for line in lines]
    names = {_normal(match["name"]): match["name"] + (match["extras"] or "") for match in wanted if match}
    pins = pinned_versions()
    reached = list(names)
    for name in reached:
        with suppress(PackageNotFoundError):
            needs = (re.match(r"[\w.-]+", line) for line in requires(name) or [] if "extra ==" not in line)
            reached += sorted({_normal(match[0]) for match in needs if match} & pins.keys() - set(reached))
    return sorted(f"{names.get(name, name)}=={pins[name]}" for name in reached)


def pinned_versions() -> dict[str, str]:
    """Package -> the one version of `constraints.txt`, without its build."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    matches = (re.match(r"([\w.-]+)==([\w.]+)", line) for line in lines)
    return {_normal(match[1]): match[2] for match in matches if match}


def _normal(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _folder(folder: Path) -> Iterator[tuple[str, Path]]:
    """Path below the folder and file, sorted."""
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder)
        if file.is_file() and not _LEFT_OUT & set(path.parts) and file.suffix != ".pyc":
            yield path.as_posix(), file.resolve()
