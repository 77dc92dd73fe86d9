import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file
from torch import nn
from transformers import CLIPConfig, CLIPModel, ConvNextConfig, ConvNextModel, Dinov2Config, Dinov2Model

from fairspace.ares.annotating.annotate import annotate
from fairspace.ares.evaluating.labelled_faces import measure_labeller
from fairspace.ares.experts_ares import normalised
from fairspace.ares.importing import EXPERTS, import_released
from fairspace.ares.modeling_ares import AresModel
from fairspace.builders.errors import BuildError
from tests.ares.hostile import Opens

THEIRS = ["young male", "young female", "middle male", "middle female", "older male", "older female"]
EVIL = pickle.dumps(Opens(Path("ran")), 2)
WIDTH = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 1, "intermediate_size": 128}


def bodies() -> dict[str, Any]:
    text = {**WIDTH, "vocab_size": 50, "bos_token_id": 0, "eos_token_id": 1}
    vision = {**WIDTH, "patch_size": 56, "image_size": 224}
    return {
        "dinov2": Dinov2Model(
            Dinov2Config(
                hidden_size=64, num_hidden_layers=2, num_attention_heads=1, mlp_ratio=2, patch_size=56, image_size=448
            )
        ),
        "convnext": ConvNextModel(ConvNextConfig(hidden_sizes=[8, 16], depths=[1, 2], num_stages=2)),
        "clip": CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=24)),
    }


class Released:
    """The authors' files with random weights, and their program's way to an answer."""

    def __init__(self, folder: Path) -> None:
        torch.manual_seed(0)
        self.models = {task: bodies() for task in EXPERTS}
        self.heads = {"dinov2": nn.Linear(64, 6), "convnext": nn.Linear(16, 6)}
        self.prototypes = torch.randn(6, 24)
        self.fusion = nn.Sequential(nn.Linear(104, 12), nn.ReLU(), nn.Dropout(0.3), nn.Linear(12, 1)).eval()
        folder.mkdir()
        for task, files in EXPERTS.items():
            for kind, file in files.items():
                model = self.models[task][kind].eval()
                for weights in model.parameters():
                    weights.data += 0.05 * torch.randn_like(weights)
                model.save_pretrained(folder / "old", save_original_format=True)  # names of transformers 4
                body = {"dinov2": "dinov2", "convnext": "convnext", "clip": "clip_model"}[kind]
                state = {f"{body}.{k}": v for k, v in load_file(folder / "old" / "model.safetensors").items()}
                if kind == "clip":
                    state["text_prototypes"] = self.prototypes
                else:
                    state |= {f"classifier_head.1.{k}": v for k, v in self.heads[kind].state_dict().items()}
                torch.save(state, folder / file)
        torch.save(self.fusion.state_dict(), folder / "st_fusion_regressor.pt")
        torch.save({}, folder / "router_stage1_ag.pth")
        (folder / "router_stage2_ag.joblib").write_bytes(b"never opened")

    @torch.inference_mode()
    def embeddings(self, task: str, pixels: torch.Tensor) -> dict[str, torch.Tensor]:
        of = self.models[task]
        seen: dict[str, torch.Tensor] = {
            kind: of[kind](pixel_values=normalised(pixels, kind)).pooler_output for kind in ("dinov2", "convnext")
        }
        seen["clip"] = of["clip"].get_image_features(pixel_values=normalised(pixels, "clip")).pooler_output
        return seen

    @torch.inference_mode()
    def logits(self, pixels: torch.Tensor) -> dict[str, torch.Tensor]:
        seen = self.embeddings("age_gender", pixels)
        logits: dict[str, torch.Tensor] = {kind: self.heads[kind](seen[kind]) for kind in self.heads}
        cosine = nn.functional.normalize(seen["clip"], dim=-1) @ nn.functional.normalize(self.prototypes, dim=-1).T
        return logits | {"clip": self.models["age_gender"]["clip"].logit_scale.exp() * cosine}


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> tuple[Released, Path]:
    folder = tmp_path_factory.mktemp("authors") / "pretrained"
    return Released(folder), folder


def test_the_authors_files_answer_as_their_program_does(released: tuple[Released, Path], tmp_path: Path) -> None:
    theirs, folder = released
    import_released(folder, tmp_path / "ares")
    model = AresModel.from_pretrained(tmp_path / "ares").eval()
    pixels = torch.rand(5, 3, 224, 224)
    with torch.inference_mode():
        ours = model(pixels)
    order = [THEIRS.index(label.replace("-aged", "")) for label in model.config.task("age_gender")["labels"]]
    for kind, logits in theirs.logits(pixels).items():
        assert torch.allclose(ours[f"logits/age_gender/{kind}"], logits[:, order], atol=1e-4), kind
    seen = theirs.embeddings("skin_tone", pixels)
    with torch.inference_mode():
        value = theirs.fusion(torch.cat([seen[kind] for kind in ("dinov2", "convnext", "clip")], dim=1))[:, 0]
    assert torch.allclose(ours["value/skin_tone"], value, atol=1e-4)
    decided = model.decide(pixels)
    assert set(decided["age_gender"].route) == {"vote"}
    assert set(decided["skin_tone"].route) == {"fusion"}
    assert decided["skin_tone"].value == pytest.approx(value.double().numpy(), abs=1e-3)
    files = model.config.training["files"]
    assert len(files) == 9


def test_what_was_imported_labels_images_and_is_measured(released: tuple[Released, Path], tmp_path: Path) -> None:
    import_released(released[1], tmp_path / "ares")
    (tmp_path / "faces").mkdir()
    for number in range(3):
        noise = np.random.RandomState(number).randint(0, 256, (64, 64, 3), np.uint8)
        Image.fromarray(noise).save(tmp_path / "faces" / f"{number}.png")
    report = annotate(tmp_path / "ares", tmp_path / "faces", tmp_path / "out", names="files", device="cpu")
    assert report.data["counts"]["status"] == {"ok": 3}
    (tmp_path / "labels.csv").write_text("file,gender,skin_tone\n0.png,male,dark\n1.png,female,light\n")
    arguments: dict[str, Any] = {"labeller": "ares", "model": tmp_path / "ares", "device": "cpu"}
    _, measured = measure_labeller(
        tmp_path / "faces", tmp_path / "labels.csv", tmp_path / "measured", date="2026-11-28", **arguments
    )
    assert measured["skin_tone"].overall.images == 2


def changed(**more: torch.Tensor | None) -> Callable[[Path], None]:
    def change(file: Path) -> None:
        state = torch.load(file, weights_only=True) | more
        torch.save({name: value for name, value in state.items() if value is not None}, file)

    return change


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("l1_ag_dino.pth", Path.unlink, "SOURCE_MISSING at .*no l1_ag_dino.pth"),
        ("l1_ag_dino.pth", lambda file: file.write_bytes(EVIL), "MODEL_UNSAFE at l1_ag_dino.pth"),
        ("l1_ag_clip.pth", changed(text_prototypes=None), "text_prototypes: none"),
        (
            "l1_ag_convnext.pth",
            changed(**{"classifier_head.4.weight": torch.ones(6, 6)}),
            "SOURCE_LAYOUT at l1_ag_conv",
        ),
        ("l1_st_dino_features.pth", changed(**{"dinov2.layernorm.weight": None}), "no dinov2.layernorm.weight"),
        ("st_fusion_regressor.pt", changed(**{"norm.weight": torch.ones(104)}), "linear layers alone"),
        ("st_fusion_regressor.pt", changed(**{"3.weight": torch.ones(2, 12)}), "104 numbers to one"),
    ],
)
def test_files_of_another_form_are_refused(
    released: tuple[Released, Path], tmp_path: Path, file: str, change: Callable[[Path], None], message: str
) -> None:
    folder = tmp_path / "pretrained"
    folder.mkdir()
    for each in (each for each in released[1].iterdir() if each.is_file()):
        (folder / each.name).write_bytes(each.read_bytes())
    change(folder / file)
    with pytest.raises(BuildError, match=message):
        import_released(folder, tmp_path / "ares")
    assert not (tmp_path / "ares").exists()
    assert not Path("ran").exists()
