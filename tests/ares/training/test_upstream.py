from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from fairspace.ares.configuration_ares import AGE_GENDER, SKIN_TONE
from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.training.config import Upstream, read_config
from fairspace.ares.training.experts import Trained, backbone_weights, texts
from fairspace.ares.training.stages import REPORT, train, untrained
from fairspace.builders.errors import BuildError
from tests.ares.hostile import Opens
from tests.ares.quick import FAST, quick_config
from tests.builders.models import tiny


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("upstream")
    torch.manual_seed(3)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    sizes |= {"projection_dim": 8}
    words = tiny.tokenizer()
    marks = {"bos_token_id": words.bos_token_id, "eos_token_id": words.eos_token_id, "pad_token_id": words.pad_token_id}
    text = {**sizes, **marks, "vocab_size": len(words), "max_position_embeddings": 77}
    clip = transformers.CLIPConfig(
        text_config=text, vision_config={**sizes, "image_size": 32, "patch_size": 8}, projection_dim=8
    )
    transformers.CLIPModel(clip).save_pretrained(folder / "clip")
    words.save_pretrained(folder / "clip")
    dinov2 = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "mlp_ratio": 1}
    transformers.Dinov2Model(transformers.Dinov2Config(**dinov2, image_size=48, patch_size=8)).save_pretrained(
        folder / "dinov2"
    )
    convnext = transformers.ConvNextConfig(hidden_sizes=[8, 8, 8, 8], depths=[1, 1, 1, 1])
    transformers.ConvNextModel(convnext).save_pretrained(folder / "convnext")
    transformers.EfficientNetModel(transformers.EfficientNetConfig(**FAST)).save_pretrained(folder / "efficientnet")
    return folder


def with_sources(file: Path, hub: Path) -> Path:
    tables = {f"experts.{kind}": kind for kind in ("clip", "dinov2", "convnext")} | {"fast": "efficientnet"}
    sources = [(f"[{table}]", f'[{table}]\nsource = "{hub / kind}"') for table, kind in tables.items()]
    return quick_config(file, *sources, ("text_learning_rate = 0.0", "text_learning_rate = 1e-3"))


def test_a_model_begins_with_the_checkpoints_weights(hub: Path, tmp_path: Path) -> None:
    config = read_config(with_sources(tmp_path / "sources.toml", hub))
    model = untrained(config, [AGE_GENDER, SKIN_TONE], {})
    dinov2 = transformers.Dinov2Model.from_pretrained(hub / "dinov2")
    stem, tail = model.stems["dinov2"].state_dict(), model.expert("skin_tone", "dinov2").state_dict()
    whole = dinov2.state_dict()
    assert torch.equal(stem["embeddings.position_embeddings"], whole["embeddings.position_embeddings"])
    assert torch.equal(stem["blocks.0.norm1.weight"], whole["encoder.layer.0.norm1.weight"])
    assert torch.equal(tail["blocks.0.mlp.fc1.weight"], whole["encoder.layer.1.mlp.fc1.weight"])
    trunk = transformers.EfficientNetModel.from_pretrained(hub / "efficientnet").state_dict()
    assert all(torch.equal(model.fast.trunk.state_dict()[name], value) for name, value in trunk.items())
    model.save_pretrained(tmp_path / "saved")
    again = AresModel.from_pretrained(tmp_path / "saved")
    pixels = torch.rand(2, 3, 32, 32)
    for name, value in model.eval()(pixels).items():
        assert torch.equal(value, again.eval()(pixels)[name]), name


def test_prototypes_begin_as_the_text_encoders_embeddings(hub: Path, tmp_path: Path) -> None:
    encoder = texts(Upstream(source=str(hub / "clip")), AGE_GENDER["prompts"])
    assert encoder is not None
    embeddings = encoder.eval()()
    assert embeddings.shape == (6, 8)
    torch.testing.assert_close(embeddings.norm(dim=1), torch.ones(6))
    config = read_config(with_sources(tmp_path / "sources.toml", hub))
    expert = untrained(config, [AGE_GENDER], {}).expert("age_gender", "clip").eval()
    hidden = torch.rand(3, 17, 16)
    trained = Trained(expert, encoder, None).eval()
    before = trained(hidden)
    trained.settle()
    torch.testing.assert_close(expert.prototypes, embeddings)
    torch.testing.assert_close(trained(hidden), before)


@pytest.mark.slow
def test_training_moves_the_text_encoder_and_the_offsets_and_keeps_the_stem(hub: Path, tmp_path: Path) -> None:
    config = with_sources(tmp_path / "sources.toml", hub)
    seen: list[Mapping[str, Any]] = []
    train(config, "drawn:60", tmp_path / "out", progress=seen.append)
    model = AresModel.from_pretrained(tmp_path / "out")
    first = texts(Upstream(source=str(hub / "clip")), SKIN_TONE["prompts"])
    assert first is not None
    moved = model.expert("skin_tone", "clip").prototypes.detach() - first.eval()().detach()
    assert 1e-4 < float(moved.norm(dim=1).mean()) < 0.8  # random prototypes would be 1 or more away
    stem = model.stems["convnext"].state_dict()
    whole = transformers.ConvNextModel.from_pretrained(hub / "convnext").state_dict()
    assert torch.equal(stem["embeddings.patch_embeddings.weight"], whole["embeddings.patch_embeddings.weight"])
    assert {event["stage"] for event in seen} >= {"age_gender__clip", "fast"}
    report = (tmp_path / "out" / REPORT).read_text(encoding="utf-8")
    assert "sha256" in report
    assert "convnext (sha256" in report


def test_a_pickle_gives_tensors_and_runs_nothing(hub: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dinov2"
    folder.mkdir()
    (folder / "config.json").write_bytes((hub / "dinov2" / "config.json").read_bytes())
    whole = transformers.Dinov2Model.from_pretrained(hub / "dinov2").state_dict()
    torch.save(whole, folder / "pytorch_model.bin")
    module = backbone_weights("dinov2", Upstream(source=str(folder)))
    assert module is not None
    assert all(torch.equal(value, whole[name]) for name, value in module.state_dict().items())
    torch.save(whole | {"call": Opens(tmp_path / "ran")}, folder / "pytorch_model.bin")
    with pytest.raises(BuildError, match="TRAINING_DATA"):
        backbone_weights("dinov2", Upstream(source=str(folder)))
    assert not (tmp_path / "ran").exists()


def test_a_checkpoint_that_lacks_weights_is_refused(hub: Path, tmp_path: Path) -> None:
    cut = transformers.Dinov2Model.from_pretrained(hub / "dinov2")
    weights = {name: value for name, value in cut.state_dict().items() if "layernorm" not in name}
    cut.save_pretrained(tmp_path / "dinov2", state_dict=weights)
    with pytest.raises(BuildError, match=r"TRAINING_DATA.*lacks.*layernorm"):
        backbone_weights("dinov2", Upstream(source=str(tmp_path / "dinov2")))
