"""What is published: for each artifact its repository on the Hub and the files in it.

Datasets come from finished builds, metrics and the Space from this software's own folders, ARES from a trained model's
folder.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import requires
from pathlib import Path

from fairspace import __version__
from fairspace.builders.errors import BuildError
from fairspace.builders.publishing.public_copy import public_copy
from fairspace.builders.publishing.repository import Repo
from fairspace.builders.registry import NAMES, dataset
from fairspace.cards.rules import check_card

ROOT = Path(__file__).parents[2]
"""The package: in a clone, its folders are links to those beside it."""
PACKAGES = ("ares", "builders", "cards", "leaderboard_space", "metrics", "submissions")
_LEFT_OUT = {"__pycache__", ".DS_Store"}
Files = Mapping[str, Path | bytes]


@dataclass(frozen=True)
class Artifact:
    """One thing to publish.

    Args:
        name: as the user names it.
        repo: its repository.
        files: an empty scratch folder -> path in the repository -> file or content.
    """

    name: str
    repo: Repo
    files: Callable[[Path], Files]


def metric_names() -> list[str]:
    """Every metric, in order."""
    return sorted(folder.name for folder in (ROOT / "metrics").iterdir() if (folder / f"{folder.name}.py").is_file())


def choose(what: Sequence[str], built: Path, ares: Path, namespace: str, allow_sample: bool) -> list[Artifact]:
    """The artifacts that the user's words mean, in the order in which they are published.

    Args:
        what: names of datasets and metrics, `datasets`, `metrics`, `ares`, `space`, `all`. `all` and `datasets` mean
            the datasets that are built, and `all` means ARES if it is trained. `fact_or_fair` is a dataset and a
            metric: both.
        built: folder of builds, one subfolder per dataset.
        ares: folder of the trained classifier.
        namespace: on the Hub.
        allow_sample: whether sample builds may be published.

    Errors: KeyError for an unknown name, BuildError BUILD_INCOMPLETE for a dataset that is not built.
    """
    known = [*NAMES, *metric_names(), "datasets", "metrics", "ares", "space", "all"]
    for word in what:
        if word not in known:
            raise KeyError(f"There is nothing called {word!r} to publish. Known: {', '.join(known)}.")
    everything = "all" in what
    chosen: list[Artifact] = []
    for name in NAMES:
        if name in what or ((everything or "datasets" in what) and (built / name).is_dir()):
            chosen.append(_dataset(name, built / name, namespace, allow_sample))
    if "datasets" in what and not chosen:
        raise BuildError(
            "BUILD_INCOMPLETE",
            str(built),
            "no dataset is built there",
            "one subfolder per dataset",
            "run `fairspace build NAME --out " + str(built / "NAME") + "`, or name the folder with --built",
        )
    chosen += [_metric(name, namespace) for name in metric_names() if name in what or everything or "metrics" in what]
    if "ares" in what or (everything and (ares / "config.json").is_file()):
        chosen.append(_ares(ares, namespace))
    if "space" in what or everything:
        chosen.append(_space(namespace))
    return chosen


def _dataset(name: str, built: Path, namespace: str, allow_sample: bool) -> Artifact:
    from fairspace.builders.engine.build import read_manifest

    declared = dataset(name)
    if read_manifest(built).sample and not allow_sample:
        raise BuildError(
            "BUILD_INCOMPLETE",
            str(built),
            "a sample build",
            "a full build",
            "build it without --sample; to try publishing on a Hub of your own, add --allow-sample",
        )
    repo = Repo(f"{namespace}/{name}", "dataset", gated=declared.gated)
    return Artifact(name, repo, lambda scratch: public_copy(declared, built, scratch, namespace))


def _metric(name: str, namespace: str) -> Artifact:
    folder = ROOT / "metrics" / name
    check_card((folder / "README.md").read_text(encoding="utf-8"), "space", f"metrics/{name}/README.md")
    return Artifact(name, Repo(f"{namespace}/{name}", "space", sdk="gradio"), lambda scratch: dict(_folder(folder)))


def _ares(folder: Path, namespace: str) -> Artifact:
    """The classifier: weights and JSON of its folder, this software's code beside them, and its card."""
    from fairspace.ares.release import release_files
    from fairspace.cards.model_card import model_card

    repo_id = f"{namespace}/ares"
    released = release_files(folder)

    def files(scratch: Path) -> Files:
        return {**released, "README.md": model_card(folder, repo_id).encode()}

    return Artifact("ares", Repo(repo_id, "model"), files)


def _space(namespace: str) -> Artifact:
    """The board: this software's packages, the page's own start file, and what it needs installed."""

    def files(scratch: Path) -> Files:
        space_files: dict[str, Path | bytes] = {
            "fairspace/__init__.py": ROOT / "__init__.py",
            "fairspace/VERSION": f"{__version__}\n".encode(),
        }
        for package in PACKAGES:
            space_files |= {f"fairspace/{package}/{path}": file for path, file in _folder(ROOT / package)}
        space_files["app.py"] = space_files["fairspace/leaderboard_space/__main__.py"]
        space_files["README.md"] = space_files["fairspace/leaderboard_space/README.md"]
        space_files["requirements.txt"] = "".join(f"{line}\n" for line in space_requirements()).encode()
        return space_files

    card = (ROOT / "leaderboard_space" / "README.md").read_text(encoding="utf-8")
    check_card(card, "space", "leaderboard_space/README.md")
    return Artifact("space", Repo(f"{namespace}/leaderboard", "space", sdk="gradio"), files)


def space_requirements() -> list[str]:
    """What the Space needs installed: the base packages and the extra `text`, as this software declares them.

    Where it is worked on, what is installed of it may be older than what it declares.
    """
    declared = ROOT.resolve().parent / "pyproject.toml"
    if declared.is_file():
        project = tomllib.loads(declared.read_text(encoding="utf-8"))["project"]
        return sorted({*project["dependencies"], *project["optional-dependencies"]["text"]})
    lines = requires("fairspace") or []
    needed = [line for line in lines if "extra ==" not in line]
    text = [line.split(";")[0].strip() for line in lines if line.endswith('extra == "text"')]
    return sorted({*needed, *text})


def _folder(folder: Path) -> Iterator[tuple[str, Path]]:
    """Path below the folder and file, sorted; links are followed, so a shared helper lies beside each metric."""
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder)
        if file.is_file() and not _LEFT_OUT & set(path.parts) and file.suffix != ".pyc":
            yield path.as_posix(), file.resolve()
