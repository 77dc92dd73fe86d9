"""Where datasets lie: in a folder of builds, or on the Hub."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fairspace.builders.engine.build import MANIFEST
from fairspace.builders.registry import NAMES
from fairspace.submissions.running.data.manifest import build_command
from fairspace.submissions.running.errors import RunError

_ONLINE = "go online to fetch it (HF_HUB_OFFLINE must not be 1), or name a folder of builds"


@dataclass(frozen=True)
class FolderOfBuilds:
    """A folder with one subfolder per dataset; `absent`: what to do where a split of a dataset is not there."""

    root: Path
    absent: str = "copy the whole dataset, or build it anew"

    def fetch(self, name: str, config: str, split: str) -> tuple[Path, str]:
        """The dataset's subfolder. RunError DATA_MISSING."""
        folder = self.root / name
        if not folder.is_dir():
            there = [known for known in NAMES if (self.root / known).is_dir()]
            what = f"no folder {name}" + (f" beside {', '.join(there)}" if there else "")
            mend = build_command(name, folder)
            if (self.root / MANIFEST).is_file():
                mend = f"name the folder above it: --data {self.root.absolute().parent}"
            raise RunError("DATA_MISSING", str(self.root), what, "a folder of builds, a subfolder for each", mend)
        return folder, ""

    def address(self, name: str) -> str:
        """The subfolder, which `join_images.py` and `datasets` are given."""
        return str(self.root / name)


class OnHub:
    """Datasets of a namespace on the Hub; only the splits that are needed are fetched, into the client's cache.

    Args:
        namespace: user or organisation.
        revision: tag, branch or commit; the main branch if None.
    """

    absent = _ONLINE

    def __init__(self, namespace: str, revision: str | None) -> None:
        self._namespace = namespace
        self._revision = revision
        self._commits: dict[str, str] = {}

    def fetch(self, name: str, config: str, split: str) -> tuple[Path, str]:
        """The dataset's folder in the cache, and its commit. RunError DATA_MISSING."""
        from huggingface_hub import snapshot_download

        repo = self.address(name)
        with _hub_errors(repo, self._revision):
            if name not in self._commits:  # asked once, so that all splits are of one commit
                first = snapshot_download(repo, repo_type="dataset", revision=self._revision, allow_patterns=[MANIFEST])
                self._commits[name] = Path(first).name
            commit = self._commits[name]
            wanted = [f"{config}/{split}-*.parquet"]
            folder = snapshot_download(repo, repo_type="dataset", revision=commit, allow_patterns=wanted)
        return Path(folder), commit

    def address(self, name: str) -> str:
        """The repository."""
        return f"{self._namespace}/{name}"


@contextmanager
def _hub_errors(repo: str, revision: str | None) -> Iterator[None]:
    """RunError DATA_MISSING for what the Hub's client raises."""
    from huggingface_hub import errors

    from fairspace.ares.annotating.source import hub_errors

    where = f"dataset {repo}" + (f" at {revision}" if revision else "")
    try:
        yield
    except hub_errors() as error:
        mend = "check the name and the network, or name a folder of builds"
        if isinstance(error, errors.GatedRepoError):
            mend = "accept its terms on its page on the Hub, then `hf auth login`, or set HF_TOKEN"
        elif isinstance(error, errors.LocalEntryNotFoundError | errors.OfflineModeIsEnabled):
            mend = _ONLINE
        elif isinstance(error, errors.RevisionNotFoundError):
            mend = "leave out the tag, or name one that the dataset has"
        what = str(error).strip().split("\n", 1)[0] or type(error).__name__
        raise RunError("DATA_MISSING", where, what, "a dataset that can be read", mend) from error
