"""The real clients work against the Hub on loopback, unmodified, each in a fresh process with a fresh cache."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from tests.hub.card_rules import check_card
from tests.hub.faults import DROP, Fault
from tests.hub.running import COMMIT, OWNER, ROOT, STRANGER, Hub


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with Hub.start(tmp_path_factory.mktemp("hub"), page=3) as running:
        yield running


def ask(hub: Hub, method: str, path: str, token: str = "", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """One plain request: status, headers, body."""
    given = {**headers, **({"Authorization": f"Bearer {token}"} if token else {})}
    request = urllib.request.Request(hub.address + path, method=method, headers=given)
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, dict(error.headers), error.read()


def test_huggingface_hub_creates_uploads_tags_lists_and_downloads(hub: Hub, tmp_path: Path) -> None:
    said = hub.run(
        f"""
import json, pathlib
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, hf_hub_download, snapshot_download
from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError, RevisionNotFoundError, EntryNotFoundError
api, repo, kind = HfApi(), "fairspace/mixed", "dataset"
assert api.whoami()["name"] == "owner"
api.create_repo(repo, repo_type=kind)
try:
    api.create_repo(repo, repo_type=kind)
    raise SystemExit("created twice")
except HfHubHTTPError as error:
    assert error.response.status_code == 409
assert str(api.create_repo(repo, repo_type=kind, exist_ok=True)).endswith("/datasets/fairspace/mixed")
folder = pathlib.Path({str(tmp_path)!r}) / "folder"
files = {{"a/b/c.txt": b"text", "a/d.parquet": b"PAR1" + bytes(3000), "e.json": b"[]", "f f.txt": b""}}
for name, data in files.items():
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
first = api.upload_folder(repo_id=repo, repo_type=kind, folder_path=folder, commit_message="all")
assert sorted(api.list_repo_files(repo, repo_type=kind)) == [".gitattributes", *files]
assert [e.path for e in api.list_repo_tree(repo, "a", repo_type=kind)] == ["a/b", "a/d.parquet"]
infos = api.get_paths_info(repo, ["a/d.parquet", "a", "nothing"], repo_type=kind)
assert [i.path for i in infos] == ["a/d.parquet", "a"] and infos[0].lfs.size == 3004
api.create_tag(repo, tag="standard/one", repo_type=kind)
stale = first.oid
second = api.create_commit(repo, [CommitOperationDelete("e.json"), CommitOperationAdd("g.txt", b"g")],
                           commit_message="second", repo_type=kind, parent_commit=stale)
try:
    add = [CommitOperationAdd("h.txt", b"h")]
    api.create_commit(repo, add, commit_message="third", repo_type=kind, parent_commit=stale)
    raise SystemExit("a stale parent was taken")
except HfHubHTTPError as error:
    assert error.response.status_code == 412
assert [c.title for c in api.list_repo_commits(repo, repo_type=kind)] == ["second", "all", "initial commit"]
refs = api.list_repo_refs(repo, repo_type=kind)
assert [(t.name, t.target_commit) for t in refs.tags] == [("standard/one", first.oid)]
api.create_branch(repo, branch="draft/x", repo_type=kind, revision="standard/one")
add = [CommitOperationAdd("draft.txt", b"d")]
api.create_commit(repo, add, commit_message="d", repo_type=kind, revision="draft/x")
assert api.file_exists(repo, "draft.txt", repo_type=kind, revision="draft/x")
assert not api.file_exists(repo, "draft.txt", repo_type=kind)
for wrong, error in [
    (dict(revision="none"), RevisionNotFoundError),
    (dict(filename="none"), EntryNotFoundError),
    (dict(repo_id="fairspace/none"), RepositoryNotFoundError),
]:
    try:
        hf_hub_download(**{{"repo_id": repo, "filename": "a/b/c.txt", "repo_type": kind, **wrong}})
        raise SystemExit(f"{{wrong}} was found")
    except error:
        pass
old = pathlib.Path(snapshot_download(repo, repo_type=kind, revision="standard/one"))
new = pathlib.Path(snapshot_download(repo, repo_type=kind, revision=second.oid))
assert (old / "e.json").read_bytes() == b"[]" and not (new / "e.json").exists()
assert (new / "a/d.parquet").read_bytes() == b"PAR1" + bytes(3000) and (new / "f f.txt").read_bytes() == b""
api.delete_tag(repo, tag="standard/one", repo_type=kind)
api.delete_branch(repo, branch="draft/x", repo_type=kind)
assert [d.id for d in api.list_datasets(author="fairspace", search="mix")] == [repo]
api.delete_repo(repo, repo_type=kind)
assert not api.repo_exists(repo, repo_type=kind)
print("done")
""",
        tmp_path / "home",
        OWNER,
    )
    assert said == "done\n"


DATASET_CARD = """---
license: cc-by-4.0
configs:
- config_name: pairs
  default: true
  data_files:
  - {split: test, path: pairs/test-*.parquet}
- config_name: elements
  data_files:
  - {split: train, path: elements/train-*.parquet}
  - {split: test, path: elements/test-*.parquet}
---
# Two configs
"""


@pytest.mark.slow
def test_datasets_loads_every_config_plain_streaming_and_by_tag(hub: Hub, tmp_path: Path) -> None:
    hub.run(
        f"""
import io, pyarrow as pa, pyarrow.parquet as pq
from huggingface_hub import HfApi, CommitOperationAdd
def shard(numbers):
    buffer = io.BytesIO()
    pq.write_table(pa.table({{"id": [str(n) for n in numbers], "n": numbers}}), buffer)
    return buffer.getvalue()
repo = dict(repo_id="fairspace/two", repo_type="dataset")
files = {{
    "README.md": {DATASET_CARD!r}.encode(),
    "pairs/test-00000-of-00002.parquet": shard([1, 2]),
    "pairs/test-00001-of-00002.parquet": shard([3]),
    "elements/train-00000-of-00001.parquet": shard([4]),
    "elements/test-00000-of-00001.parquet": shard([5]),
}}
api = HfApi()
api.create_repo(**repo)
add = [CommitOperationAdd(path, data) for path, data in files.items()]
api.create_commit(**repo, operations=add, commit_message="one")
api.create_tag(**repo, tag="inaugural")
changed = [CommitOperationAdd("pairs/test-00001-of-00002.parquet", shard([30]))]
api.create_commit(**repo, operations=changed, commit_message="two")
""",
        tmp_path / "owner",
        OWNER,
    )
    said = hub.run(
        """
import json
from datasets import get_dataset_config_names, load_dataset
name = "fairspace/two"
old = dict(split="test", revision="inaugural")
print(json.dumps({
    "configs": get_dataset_config_names(name),
    "default": load_dataset(name)["test"]["n"][:],
    "plain": load_dataset(name, "elements", split="train")["n"][:],
    "splits": sorted(load_dataset(name, "elements")),
    "streamed": [row["n"] for row in load_dataset(name, "pairs", split="test", streaming=True)],
    "tagged": load_dataset(name, "pairs", **old)["n"][:],
    "tagged, streamed": [row["n"] for row in load_dataset(name, "pairs", streaming=True, **old)],
}))
""",
        tmp_path / "reader",
    )
    assert json.loads(said.splitlines()[-1]) == {
        "configs": ["pairs", "elements"],
        "default": [1, 2, 30],
        "plain": [4],
        "splits": ["test", "train"],
        "streamed": [1, 2, 30],
        "tagged": [1, 2, 3],
        "tagged, streamed": [1, 2, 3],
    }


@pytest.mark.slow
def test_evaluate_loads_a_metric_space_with_its_sibling(hub: Hub, tmp_path: Path) -> None:
    folder = tmp_path / "accuracy_disparity"
    shutil.copytree(ROOT / "metrics" / "accuracy_disparity", folder, ignore=shutil.ignore_patterns("__pycache__"))
    hub.run(
        f"""
from huggingface_hub import HfApi
repo = dict(repo_id="fairspace/accuracy_disparity", repo_type="space")
HfApi().create_repo(**repo, space_sdk="gradio")
HfApi().upload_folder(**repo, folder_path={str(folder)!r})
""",
        tmp_path / "owner",
        OWNER,
    )
    said = hub.run(
        """
import evaluate
metric = evaluate.load("fairspace/accuracy_disparity")
answers, truth = ["nurse", "pilot", "pilot", "pilot"], ["nurse", "nurse", "pilot", "pilot"]
groups = ["female", "female", "male", "male"]
print(metric.compute(predictions=answers, references=truth, groups=groups, minimum=2)["accuracy_disparity"])
""",
        tmp_path / "reader",
    )
    assert float(said.splitlines()[-1]) == 0.5


MODELLING = """
import torch
from transformers import PretrainedConfig, PreTrainedModel


class TinyConfig(PretrainedConfig):
    model_type = "tiny-test"

    def __init__(self, width=2, **more):
        super().__init__(**more)
        self.width = width


class TinyModel(PreTrainedModel):
    config_class = TinyConfig

    def __init__(self, config):
        super().__init__(config)
        self.layer = torch.nn.Linear(config.width, 1)
        self.post_init()

    def forward(self, x):
        return self.layer(x)
"""


@pytest.mark.slow
def test_transformers_loads_a_model_with_custom_code(hub: Hub, tmp_path: Path) -> None:
    auto_map = {"AutoConfig": "tiny_modelling.TinyConfig", "AutoModel": "tiny_modelling.TinyModel"}
    config = {"architectures": ["TinyModel"], "auto_map": auto_map, "model_type": "tiny-test", "width": 3}
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "tiny_modelling.py").write_text(MODELLING, encoding="utf-8")
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    weights = {"layer.weight": np.array([[1, 2, 3]], np.float32), "layer.bias": np.array([0.5], np.float32)}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    hub.run(
        f"""
from huggingface_hub import HfApi
HfApi().create_repo("fairspace/tiny")
HfApi().upload_folder(repo_id="fairspace/tiny", folder_path={str(folder)!r})
""",
        tmp_path / "owner",
        OWNER,
    )
    said = hub.run(
        """
import torch
from transformers import AutoConfig, AutoModel
assert AutoConfig.from_pretrained("fairspace/tiny", trust_remote_code=True).width == 3
print(AutoModel.from_pretrained("fairspace/tiny", trust_remote_code=True)(torch.ones(1, 3)).item())
""",
        tmp_path / "reader",
    )
    assert float(said.splitlines()[-1]) == 6.5


def test_private_and_gated_repositories_are_closed_until_terms_are_accepted(hub: Hub, tmp_path: Path) -> None:
    hub.run(
        """
from huggingface_hub import HfApi, CommitOperationAdd
api = HfApi()
for name in ("hidden", "faces"):
    api.create_repo(f"fairspace/{name}", repo_type="dataset", private=name == "hidden")
    api.create_commit(f"fairspace/{name}", [CommitOperationAdd("x.txt", b"x")], commit_message="x", repo_type="dataset")
api.update_repo_settings("fairspace/faces", repo_type="dataset", gated="auto")
""",
        tmp_path / "owner",
        OWNER,
    )
    tree, file = "/api/datasets/fairspace/{}/tree/main", "/datasets/fairspace/{}/resolve/main/x.txt"
    for token, hidden, gated in (("", 401, 401), (STRANGER, 404, 403), (OWNER, 200, 200), ("hf_wrong", 401, 401)):
        assert ask(hub, "GET", tree.format("hidden"), token)[0] == hidden
        assert ask(hub, "HEAD", file.format("faces"), token)[0] == gated
    assert ask(hub, "HEAD", file.format("faces"), STRANGER)[1]["x-error-code"] == "GatedRepo"
    assert ask(hub, "GET", tree.format("faces"))[0] == 200
    ask(hub, "POST", "/datasets/fairspace/faces/ask-access", STRANGER)
    assert ask(hub, "GET", file.format("faces"), STRANGER)[2] == b"x"


def test_files_are_served_by_range_with_the_headers_that_caches_need(hub: Hub, tmp_path: Path) -> None:
    hub.run(
        """
from huggingface_hub import HfApi, CommitOperationAdd
api = HfApi()
api.create_repo("fairspace/ranges")
add = [CommitOperationAdd("d/a b.bin", b"0123456789"), CommitOperationAdd("t.txt", b"text")]
api.create_commit("fairspace/ranges", add, commit_message="x")
api.create_tag("fairspace/ranges", tag="a/b")
""",
        tmp_path / "owner",
        OWNER,
    )
    path = "/fairspace/ranges/resolve/a%2Fb/d%2Fa%20b.bin"
    status, headers, body = ask(hub, "GET", path, Range="bytes=2-4")
    assert (status, body, headers["content-range"]) == (206, b"234", "bytes 2-4/10")
    assert ask(hub, "GET", path, Range="bytes=10-")[0] == 416
    _, headers, body = ask(hub, "HEAD", path)
    sha256 = "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882"
    assert (headers["x-linked-etag"], headers["x-linked-size"]) == (f'"{sha256}"', "10")
    assert headers["content-length"] == "10"
    assert (body, len(headers["x-repo-commit"])) == (b"", 40)
    plain = ask(hub, "HEAD", "/fairspace/ranges/resolve/main/t.txt")[1]
    assert "x-linked-size" not in plain
    assert plain["etag"].startswith('"')
    assert ask(hub, "GET", "/fairspace/ranges/resolve/main/none")[1]["x-error-code"] == "EntryNotFound"


def test_an_object_with_a_wrong_hash_or_an_unsigned_address_is_refused(hub: Hub) -> None:
    oid = "0" * 64
    assert ask(hub, "PUT", f"/objects/{oid}/0?signature=none")[0] == 403


def test_faults_are_counted_and_the_log_tells_them(hub: Hub) -> None:
    hub.log(clear=True)
    hub.inject(Fault("GET", "^/api/datasets$", 429, times=2, skip=1, seconds=3), Fault("POST", COMMIT, DROP))
    answers = [ask(hub, "GET", "/api/datasets") for _ in range(4)]
    assert [status for status, _, _ in answers] == [200, 429, 429, 200]
    assert answers[1][1]["retry-after"] == "3"
    assert [entry["status"] for entry in hub.log()] == [200, 429, 429, 200]
    assert [fault["status"] for fault in hub.faults_left()] == [DROP]
    hub.heal()
    assert hub.faults_left() == []


def test_the_server_serves_alone_and_says_where(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.hub", "--port", "0", "--root", str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        process.kill()
    assert address.startswith("http://127.0.0.1:")


@pytest.mark.parametrize(
    ("kind", "card", "wrong"),
    [
        ("dataset", "license: cc-by-4", '"license"'),
        ("dataset", "license: other", '"license_name"'),
        ("dataset", "size_categories: [1K<n<5K]", '"size_categories"'),
        ("dataset", "language: [english]", '"language"'),
        ("dataset", "task_categories: [fairness]", '"task_categories"'),
        ("dataset", "configs: {config_name: x}", '"configs" must be an array'),
        ("dataset", "configs: [{data_files: x}]", '"configs[0].config_name"'),
        ("dataset", "configs: [{config_name: x, data_files: [{split: a b, path: x}]}]", "data_files"),
        ("dataset", "configs: [{config_name: x}, {config_name: x}]", "distinct"),
        ("dataset", "tags: [1]", '"tags"'),
        ("dataset", "a: [", "malformed"),
        ("space", "title: x", '"sdk" is required'),
        ("space", "{sdk: gradio, colorFrom: grey}", '"colorFrom"'),
        ("space", "{sdk: gradio, emoji: x}", '"emoji"'),
        ("space", f"{{sdk: gradio, short_description: {'x' * 61}}}", '"short_description"'),
        ("model", "pipeline_tag: fairness", '"pipeline_tag"'),
    ],
)
def test_cards_against_the_rules_are_named(kind: str, card: str, wrong: str) -> None:
    errors, _ = check_card(f"---\n{card}\n---\n", kind)
    assert len(errors) == 1
    assert wrong in errors[0]


def test_cards_by_the_rules_pass() -> None:
    assert check_card(DATASET_CARD, "dataset") == ([], [])
    space = "---\ntitle: T\nemoji: 🧭\ncolorFrom: indigo\ncolorTo: gray\nsdk: gradio\nsdk_version: 6.31.0\n---\n"
    assert check_card(space, "space") == ([], [])
    assert check_card("# No front", "model") == ([], ["empty or missing yaml metadata in repo card"])
