import json
from pathlib import Path

import pytest

from fairspace.ares.annotating.annotate import annotate
from tests.ares.image_sources import images, parquet, rows
from tests.hub.running import OWNER, Hub

UPLOAD = """
import sys
from huggingface_hub import HfApi
api = HfApi()
api.create_repo("fairspace/faces", repo_type="dataset")
api.create_repo("fairspace/ares")
print(api.upload_folder(repo_id="fairspace/faces", repo_type="dataset", folder_path={faces!r}).oid)
print(api.upload_folder(repo_id="fairspace/ares", folder_path={ares!r}).oid)
"""
ANNOTATE = """
from pathlib import Path
import torch
torch.set_num_threads(1)
from fairspace.ares.annotating.annotate import annotate
annotate("fairspace/ares@main", "fairspace/faces", Path({out!r}), shard=7)
"""


@pytest.mark.slow
def test_a_dataset_on_the_hub_is_labelled_by_a_model_on_the_hub(tiny_ares: Path, tmp_path: Path) -> None:
    faces = parquet(tmp_path / "repo" / "data", images(15, [b"broken"]), shards=1)
    (faces / "images-00000-of-00001.parquet").rename(faces / "train-00000-of-00001.parquet")
    card = "---\nlicense: apache-2.0\ndataset_info:\n  features:\n"
    card += "".join(f"  - {{name: {name}, dtype: string}}\n" for name in ("task", "id"))
    card += (
        "  - {name: sample, dtype: int32}\n  - {name: sha256, dtype: string}\n  - {name: image, dtype: image}\n---\n"
    )
    (tmp_path / "repo" / "README.md").write_text(card)
    with Hub.start(tmp_path / "hub") as hub:
        upload = UPLOAD.format(faces=str(tmp_path / "repo"), ares=str(tiny_ares))
        commits = hub.run(upload, tmp_path / "owner", OWNER).split()
        hub.run(ANNOTATE.format(out=str(tmp_path / "out")), tmp_path / "user")
    data = json.loads((tmp_path / "out" / "annotation.json").read_text())
    assert (data["source"]["name"], data["source"]["revision"]) == ("fairspace/faces", commits[0])
    assert (data["model"]["name"], data["model"]["revision"]) == ("fairspace/ares", commits[1])
    annotate(tiny_ares, faces, tmp_path / "local", shard=7)
    assert len(rows(tmp_path / "out")) == 16
    assert rows(tmp_path / "out") == rows(tmp_path / "local")
    assert rows(tmp_path / "out", "routes") == rows(tmp_path / "local", "routes")


ELSEWHERE = "elsewhere.example"
NAMES: tuple[str, ...] = (
    "../x",
    "a/../b",
    "owner/..%2fx",
    "owner/name?x=1",
    "owner/name#f",
    "owner\\name",
    "owner/name\r\nHost: x",
)
NAMES += (f"http://{ELSEWHERE}/owner/name", f"//{ELSEWHERE}/x", "hf://models/o/n", "file:///etc/passwd", "a" * 300)
REVISIONS = ("../../../x", "main?x", "%2e%2e%2f", f"http://{ELSEWHERE}", "refs/../x", f"user:key@{ELSEWHERE}/x")
ASK = """
from fairspace.ares.annotating.source import fetched
from fairspace.builders.errors import BuildError
from fairspace.builders.models.weights import find
for name in {names!r}:
    for ask in (lambda: fetched(name, "dataset", ["*"], "SOURCE_MISSING", "x", "y"), lambda: find(name, "config.json")):
        try:
            print("found", ask())
        except BuildError:
            pass
"""


@pytest.mark.process
def test_no_name_sends_a_request_elsewhere(tmp_path: Path) -> None:
    names = [*NAMES, *(f"owner/name@{revision}" for revision in REVISIONS)]
    with Hub.start(tmp_path / "hub") as hub:
        code = ASK.format(names=names)
        told = hub.run(code, tmp_path / "user", OWNER, HTTP_PROXY=hub.address)  # which would tell of others
        asked = [str(request["path"]) for request in hub.log()]
    assert told == ""
    ours = ("/api/datasets/owner/name/revision/", "/owner/name/resolve/", "/api/agent-harnesses")
    assert len(asked) >= 2 * len(REVISIONS)
    assert [path for path in asked if not path.startswith(ours)] == []
