import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from huggingface_hub import HfApi
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

from fairspace.builders.errors import BuildError
from fairspace.builders.publishing import requests as hub_requests
from fairspace.builders.publishing.repository import PublishedChanges, Repo, publish_repo
from fairspace.builders.publishing.requests import CONFLICTS, FAILURES
from tests.hub.faults import DROP, SLOW, Fault
from tests.hub.running import COMMIT, OWNER, STRANGER, Hub, online

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=<...>':DeprecationWarning")  # the client's own uploads

CARD = b"---\nlicense: cc-by-4.0\nconfigs:\n- config_name: pairs\n  data_files: pairs/*.parquet\n---\n# Pairs\n"
SHARD = "pairs/test-00000-of-00001.parquet"
ROUTES = {
    "validate": ("POST", r"^/api/validate-yaml$"),
    "look": ("GET", r"^/api/datasets/[^/]+/[^/]+$"),
    "create": ("POST", r"^/api/repos/create$"),
    "gate": ("PUT", r"/settings$"),
    "batch": ("POST", r"/info/lfs/objects/batch$"),
    "upload": ("PUT", r"^/objects/"),
    "commit": ("POST", COMMIT),
    "refs": ("GET", r"/refs$"),
    "tag": ("POST", r"/tag/"),
}


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with Hub.start(tmp_path_factory.mktemp("hub")) as running, online():
        yield running


@pytest.fixture(autouse=True)
def healthy(hub: Hub) -> None:
    hub.heal()
    hub.log(clear=True)


@pytest.fixture
def repo(request: pytest.FixtureRequest) -> Repo:
    name = hashlib.sha256(request.node.name.encode()).hexdigest()[:12]
    return Repo(f"fairspace/x{name}", "dataset", gated=True)


def files_of(repo: Repo) -> dict[str, bytes]:
    """A card, a small file, and an LFS object that no other repository has."""
    return {"README.md": CARD, "croissant.json": b"{}\n", SHARD: f"PAR1 {repo.id} PAR1".encode()}


def publish(
    hub: Hub,
    repo: Repo,
    files: Mapping[str, Path | bytes] | None = None,
    *,
    tag: str | None = None,
    dry_run: bool = False,
    token: str = OWNER,
    sleep: Callable[[float], None] = lambda seconds: None,
) -> PublishedChanges:
    return publish_repo(
        repo,
        files_of(repo) if files is None else files,
        message="Publish",
        tag=tag,
        dry_run=dry_run,
        endpoint=hub.address,
        token=token,
        sleep=sleep,
        draw=lambda: 0.5,
    )


def there(hub: Hub, repo: Repo, revision: str = "main") -> dict[str, bytes]:
    """The repository's files on the server's disk, without those that the Hub writes."""
    from tests.hub.storage import Store

    store = Store(hub.root)
    found = store.find(repo.kind, repo.id)
    assert found is not None
    files = store.commit_of(found, revision).files
    return {path: store.content(file).read_bytes() for path, file in files.items() if path != ".gitattributes"}


def commits(hub: Hub, repo: Repo) -> list[str]:
    """Commits after the Hub's first one, the newest first."""
    listed = HfApi(hub.address, token=OWNER).list_repo_commits(repo.id, repo_type=repo.kind)
    return [commit.commit_id for commit in listed][:-1]


def tags(hub: Hub, repo: Repo) -> dict[str, str]:
    refs = HfApi(hub.address, token=OWNER).list_repo_refs(repo.id, repo_type=repo.kind)
    return {ref.name: ref.target_commit for ref in refs.tags}


def changes(hub: Hub) -> list[tuple[str, str]]:
    asked = [(entry["method"], entry["path"]) for entry in hub.log()]
    return [(method, path) for method, path in asked if method not in ("GET", "HEAD") and "validate-yaml" not in path]


def test_first_publish_is_one_tagged_commit_and_the_second_is_none(hub: Hub, repo: Repo, tmp_path: Path) -> None:
    shard = tmp_path / "shard.parquet"
    shard.write_bytes(f"PAR1 {repo.id} PAR1".encode())
    first = publish(hub, repo, {**files_of(repo), SHARD: shard}, tag="inaugural")
    assert commits(hub, repo) == [first.commit]
    assert there(hub, repo) == files_of(repo)
    assert tags(hub, repo) == {"inaugural": first.commit}
    assert set(first.added) == set(files_of(repo))
    assert (first.changed, first.deleted, first.tag, first.note) == ((), (), "inaugural", "")

    hub.log(clear=True)
    second = publish(hub, repo, tag="inaugural")
    assert second.nothing
    assert second.text() == f"{repo.name}: unchanged, tag inaugural"
    assert second.commit == first.commit
    assert changes(hub) == []


def test_a_changed_card_is_one_commit_and_sends_nothing_else(hub: Hub, repo: Repo) -> None:
    publish(hub, repo)
    hub.log(clear=True)
    outcome = publish(hub, repo, {**files_of(repo), "README.md": CARD + b"More.\n"})
    assert (outcome.added, outcome.changed, outcome.deleted) == ((), ("README.md",), ())
    assert outcome.text() == f"{repo.name}: 1 changed, commit {str(outcome.commit)[:8]}\n  ~ README.md"
    assert len(commits(hub, repo)) == 2
    assert there(hub, repo)["README.md"] == CARD + b"More.\n"
    assert not [path for _, path in changes(hub) if "/objects/" in path]


def test_files_that_are_no_longer_wanted_go(hub: Hub, repo: Repo) -> None:
    publish(hub, repo)
    kept = {"README.md": CARD}
    outcome = publish(hub, repo, kept)
    assert outcome.deleted == ("croissant.json", SHARD)
    assert there(hub, repo) == kept
    attributes = HfApi(hub.address, token=OWNER).file_exists(repo.id, ".gitattributes", repo_type=repo.kind)
    assert attributes, "what the Hub wrote stays"


def test_a_released_tag_never_moves(hub: Hub, repo: Repo) -> None:
    first = publish(hub, repo, tag="inaugural")
    changed = {**files_of(repo), "croissant.json": b'{"name": "pairs"}\n'}
    with pytest.raises(BuildError) as caught:
        publish(hub, repo, changed, tag="inaugural")
    assert caught.value.code == "TAG_RELEASED"
    assert commits(hub, repo) == [first.commit], "nothing was changed before the tag was looked at"

    publish(hub, repo, changed)
    assert there(hub, repo, "inaugural") == files_of(repo)
    publish(hub, repo, tag="inaugural")
    assert tags(hub, repo) == {"inaugural": first.commit}, "the same content again: the tag is left"
    assert len(commits(hub, repo)) == 3


@pytest.mark.parametrize("name", ["v1.2", "0.4.6", "v0.4.7.dev0", "v2", "main", "0123abcd"])
def test_a_tag_that_clients_would_take_for_something_else_is_refused(hub: Hub, repo: Repo, name: str) -> None:
    with pytest.raises(BuildError) as caught:
        publish(hub, repo, tag=name)
    assert caught.value.code == "TAG_RESERVED"
    assert hub.log() == []


def test_a_gated_repository_is_closed_before_it_has_files(hub: Hub, repo: Repo) -> None:
    publish(hub, repo)
    order = [path.rsplit("/", 2)[-1] if "commit" not in path else "commit" for _, path in changes(hub)]
    assert order.index("settings") < order.index("commit")
    api = HfApi(hub.address, token=STRANGER)
    with pytest.raises(GatedRepoError):
        api.hf_hub_download(repo.id, "croissant.json", repo_type=repo.kind)
    ungated = Repo(repo.id, "dataset")
    assert "gated by hand" in publish(hub, ungated).note
    assert api.dataset_info(repo.id).gated == "auto"


def test_a_card_against_the_rules_changes_nothing(hub: Hub, repo: Repo) -> None:
    with pytest.raises(BuildError) as caught:
        publish(hub, repo, {"README.md": b"---\nlicense: apache\ntask_categories: [drawing]\n---\n"})
    assert caught.value.code == "CARD_INVALID"
    assert "'apache'" in caught.value.what
    assert "'drawing'" in caught.value.what
    assert changes(hub) == []


def test_a_dry_run_says_what_it_would_do_and_does_nothing(hub: Hub, repo: Repo) -> None:
    foreseen = publish(hub, repo, tag="inaugural", dry_run=True)
    assert (set(foreseen.added), foreseen.commit, foreseen.tag) == (set(files_of(repo)), None, "inaugural")
    assert foreseen.note == "would create the repository; would gate it"
    told = f"{repo.name}: would be 3 added, tag inaugural (would create the repository; would gate it)"
    assert foreseen.text().splitlines() == [told, "  + README.md", "  + croissant.json", f"  + {SHARD}"]
    assert changes(hub) == []
    publish(hub, repo)
    hub.log(clear=True)
    again = publish(hub, repo, {"README.md": CARD + b"More.\n", "croissant.json": b"{}\n"}, dry_run=True)
    assert (again.changed, again.deleted) == (("README.md",), (SHARD,))
    assert changes(hub) == []
    assert there(hub, repo) == files_of(repo)


def test_who_may_not_write_is_told_to_log_in(hub: Hub, repo: Repo) -> None:
    with pytest.raises(BuildError) as caught:
        publish(hub, repo, token=STRANGER)
    assert caught.value.code == "HUB_REFUSED"
    assert "hf auth login" in caught.value.mend
    with pytest.raises(BuildError, match=r"HUB_REFUSED at datasets/.*401"):
        publish(hub, repo, token="hf_nobody")
    with pytest.raises(RepositoryNotFoundError):
        HfApi(hub.address, token=OWNER).repo_info(repo.id, repo_type=repo.kind)


FAULTS = [
    *((step, DROP, after) for step in ("create", "gate", "upload", "commit", "tag") for after in (False, True)),
    *((step, 500, False) for step in ROUTES if step not in ("batch", "upload", "refs")),
    ("look", 429, False),
    ("commit", 409, False),
    ("commit", 412, False),
    ("commit", 504, True),
    ("tag", 409, True),
]


@pytest.mark.parametrize(("step", "status", "after"), FAULTS)
def test_each_fault_at_each_step_ends_in_one_commit(hub: Hub, repo: Repo, step: str, status: int, after: bool) -> None:
    hub.inject(Fault(*ROUTES[step], status, after, times=1))
    outcome = publish(hub, repo, tag="inaugural")
    assert hub.faults_left() == [], "the fault was met"
    assert commits(hub, repo) == [outcome.commit]
    assert there(hub, repo) == files_of(repo)
    assert set(outcome.added) == set(files_of(repo))
    assert tags(hub, repo) == {"inaugural": outcome.commit}
    assert publish(hub, repo, tag="inaugural").nothing


@pytest.mark.parametrize("after", [False, True])
def test_an_answer_that_does_not_come_in_time_is_read_back(
    hub: Hub, repo: Repo, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    monkeypatch.setattr(hub_requests, "TIMEOUT", 0.5)
    hub.inject(Fault(*ROUTES["commit"], SLOW, after, seconds=1))
    outcome = publish(hub, repo)
    time.sleep(1)
    assert commits(hub, repo) == [outcome.commit]
    assert there(hub, repo) == files_of(repo)


def test_what_the_client_does_not_take_is_refused(hub: Hub, repo: Repo, tmp_path: Path) -> None:
    for wrong, code in (
        ({".git/config": b""}, "HUB_REFUSED"),
        ({"README.md": b"---\ntags: [\xff]\n---\n"}, "CARD_INVALID"),
        ({"none": tmp_path / "none"}, "BUILD_INCOMPLETE"),
        ({f"{repo.id.split('/')[1]}.py": b""}, "BUILD_CHECK"),
    ):
        with pytest.raises(BuildError) as caught:
            publish(hub, repo, wrong)
        assert caught.value.code == code


def test_waits_grow_and_obey_the_hub(hub: Hub, repo: Repo) -> None:
    publish(hub, repo, {"README.md": CARD})
    waited: list[float] = []
    hub.inject(Fault(*ROUTES["commit"], 500, times=3), Fault(*ROUTES["commit"], 429, seconds=7))
    publish(hub, repo, sleep=waited.append)
    assert waited == [0.375, 0.75, 1.5, 7 + 3.0]


@pytest.mark.parametrize(
    ("status", "seconds", "code", "tries"),
    [
        (500, 0.0, "HUB_UNAVAILABLE", FAILURES),
        (412, 0.0, "HUB_CONFLICT", CONFLICTS),
        (429, 3600.0, "HUB_UNAVAILABLE", 1),
    ],
)
def test_tries_are_bounded(hub: Hub, repo: Repo, status: int, seconds: float, code: str, tries: int) -> None:
    hub.inject(Fault(*ROUTES["commit"], status, times=1000, seconds=seconds))
    with pytest.raises(BuildError) as caught:
        publish(hub, repo)
    assert caught.value.code == code
    assert len([entry for entry in hub.log() if "/commit/" in entry["path"]]) == tries
    assert commits(hub, repo) == []


def test_a_hub_that_is_not_there_is_named(hub: Hub, repo: Repo) -> None:
    with pytest.raises(BuildError) as caught:
        publish_repo(
            repo, files_of(repo), message="m", endpoint="http://127.0.0.1:9", token=OWNER, sleep=lambda s: None
        )
    assert caught.value.code == "HUB_UNAVAILABLE"
