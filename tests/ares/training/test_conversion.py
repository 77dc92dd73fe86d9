from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import ConvNextConfig, ConvNextModel

from fairspace.ares.training import conversion
from fairspace.ares.training.config import Upstream
from fairspace.ares.training.conversion import PLACE, RECORD, WEIGHTS, convert, converted, converted_folder
from fairspace.ares.training.experts import backbone_weights
from fairspace.builders.errors import BuildError

COMMIT = "a" * 40


class Opens:
    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[object, ...]:
        return open, (str(self.file), "w")


@pytest.fixture
def checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(PLACE, str(tmp_path / "converted"))
    torch.manual_seed(0)
    model = ConvNextModel(ConvNextConfig(hidden_sizes=[8, 8, 8, 8], depths=[1, 1, 1, 1]))
    model.config.save_pretrained(tmp_path / "hub")
    torch.save(model.state_dict(), tmp_path / "hub" / "pytorch_model.bin")
    return tmp_path / "hub"


def test_training_begins_with_what_was_converted_and_both_hashes_are_recorded(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversion, "fetched", lambda *asked: checkpoint)
    assert converted("owner/convnext", COMMIT) is None
    record = convert("owner/convnext", COMMIT)
    folder = converted_folder("owner/convnext", COMMIT)
    assert converted("owner/convnext", COMMIT) == folder
    assert json.loads((folder / RECORD).read_text("utf-8")) == record
    for part, file in (("read", checkpoint / "pytorch_model.bin"), ("written", folder / WEIGHTS)):
        assert record[part] == {file.name: hashlib.sha256(file.read_bytes()).hexdigest()}
    state = torch.load(checkpoint / "pytorch_model.bin", weights_only=True)
    module = backbone_weights("convnext", Upstream(source="owner/convnext", revision=COMMIT))
    assert module is not None
    assert all(torch.equal(module.state_dict()[name], tensor) for name, tensor in state.items())
    (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:-4] + b"zzzz")
    with pytest.raises(BuildError, match=rf"MODEL_UNSAFE.*convert it again: convert\('owner/convnext', '{COMMIT}'\)"):
        backbone_weights("convnext", Upstream(source="owner/convnext", revision=COMMIT))


def test_a_pickle_that_would_run_something_runs_nothing_and_leaves_nothing(checkpoint: Path, tmp_path: Path) -> None:
    torch.save({"weight": torch.ones(1), "call": Opens(tmp_path / "ran")}, checkpoint / "pytorch_model.bin")
    with pytest.raises(BuildError, match=r"MODEL_UNSAFE.*tensors by name"):
        convert(str(checkpoint), "")
    assert not (tmp_path / "ran").exists()
    assert not list((tmp_path / "converted").iterdir())


def test_shards_and_shared_tensors_become_a_single_file(checkpoint: Path) -> None:
    (checkpoint / "pytorch_model.bin").unlink()
    shared = torch.arange(6.0).reshape(2, 3)
    torch.save({"a": shared, "b": shared.T}, checkpoint / "pytorch_model-00001-of-00002.bin")
    torch.save({"c": torch.ones(2, dtype=torch.bfloat16)}, checkpoint / "pytorch_model-00002-of-00002.bin")
    convert(str(checkpoint), "")
    tensors = load_file(converted_folder("hub", "") / WEIGHTS)
    assert torch.equal(tensors["a"], shared)
    assert torch.equal(tensors["b"], shared.T)
    assert tensors["c"].dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("source", "revision", "code"), [("owner/model", "main", "REVISION_UNPINNED"), ("", "", "TRAINING_DATA")]
)
def test_what_cannot_be_converted_is_refused(tmp_path: Path, source: str, revision: str, code: str) -> None:
    with pytest.raises(BuildError, match=code):
        convert(source or str(tmp_path), revision)
