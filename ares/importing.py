"""The authors' released ARES as a folder of ours: `fairspace ares import FOLDER --out OUT`.

They name nine files (`download_weights.sh`) and publish no class of theirs, so shapes come from the files and the rest
from their `predict.py`: the skin tone is regressed from the backbones' own embeddings in the order DINOv2, ConvNeXt,
CLIP; age and gender are six labels. Assumed, as nothing says it: a linear head, CLIP's stored `text_prototypes` by
cosine, ReLU between the regressor's layers. Every other form is refused.
Neither router is imported, so that the experts' vote decides age and gender (row E4 of Tables 11 and 12): the first
one's form is not published; the second one needs features that `predict.py` cannot compute (E-ARES-06).
Files are read as tensors alone (`weights_only`); the .joblib file is hashed and never opened.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import nn

from fairspace.ares.configuration_ares import AGE_GENDER, DECISIONS, SKIN_TONE, AresConfig
from fairspace.ares.experts_ares import Expert, Stem, backbone
from fairspace.ares.modeling_ares import AresModel, expert_name
from fairspace.builders.engine.build import file_hash
from fairspace.builders.errors import BuildError

EXPERTS = {
    "age_gender": {"clip": "l1_ag_clip.pth", "convnext": "l1_ag_convnext.pth", "dinov2": "l1_ag_dino.pth"},
    "skin_tone": {
        "clip": "l1_st_clip_features.pth",
        "convnext": "l1_st_convnext_features.pth",
        "dinov2": "l1_st_dino_features.pth",
    },
}
"""Task -> kind of expert -> file."""
FUSION = "st_fusion_regressor.pt"
ROUTERS = ("router_stage1_ag.pth", "router_stage2_ag.joblib")
_JOINED = ("dinov2", "convnext", "clip")
"""Order of the embeddings that the regressor takes."""
_THEIRS = [f"{age} {gender}" for age in ("young", "middle-aged", "older") for gender in ("male", "female")]
"""Their order of age and gender."""
_BODY = {"clip": "clip_model.", "dinov2": "dinov2.", "convnext": "convnext."}
_AGAIN = "take the nine files as the authors' download_weights.sh fetches them"
Weights = dict[str, torch.Tensor]


def import_released(folder: Path, out: Path) -> AresModel:
    """Write an ARES from the authors' files into `out`, a new or empty folder.

    BuildError SOURCE_MISSING, SOURCE_LAYOUT for files; MODEL_UNSAFE for a pickle of anything but tensors; OUT_IN_USE.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BuildError("OUT_IN_USE", str(out), "something else", "a new or empty folder", "name another --out")
    names = [*(file for files in EXPERTS.values() for file in files.values()), FUSION, *ROUTERS]
    if lacking := [file for file in names if not (folder / file).is_file()]:
        raise BuildError("SOURCE_MISSING", str(folder), f"no {', '.join(lacking)}", f"{len(names)} files", _AGAIN)
    read = {task: {kind: _read(folder / file) for kind, file in files.items()} for task, files in EXPERTS.items()}
    layers = _linear(_read(folder / FUSION), folder / FUSION)
    backbones: dict[str, dict[str, Any]] = {}
    wholes: dict[tuple[str, str], nn.Module] = {}
    for kind in EXPERTS["age_gender"]:
        for task in EXPERTS:
            config, wholes[task, kind] = _backbone(kind, read[task][kind], folder / EXPERTS[task][kind])
            if config != backbones.setdefault(kind, {"config": config})["config"]:
                raise _layout(folder / EXPERTS[task][kind], f"another architecture {config}", "that of the other task")
        backbones[kind] |= {"source": "released by IRIS' authors", "shared": 0, "own_stems": True, "raw": True}
    model = AresModel(
        AresConfig(
            tasks=[dict(AGE_GENDER), dict(SKIN_TONE)],
            backbones=backbones,
            router={
                "source": "none",
                "config": {"width_coefficient": 0.1, "depth_coefficient": 0.1, "hidden_dim": 128},
            },
            fast_confidence=1.0,
            escalation=1.0,
            fusion_hidden=[len(weight) for weight, _ in layers[:-1]],
            fusion_norm=False,
            decisions=DECISIONS,
            training={"name": "released by IRIS' authors", "files": {file: file_hash(folder / file) for file in names}},
        )
    )
    for (task, kind), whole in wholes.items():
        labels = AGE_GENDER["labels"] if task == "age_gender" else SKIN_TONE["labels"]
        model.stem(task, kind).load_state_dict(Stem(kind, whole, 0).state_dict())
        expert = Expert(kind, whole, 0, len(labels), raw=True)
        if task == "age_gender":  # of skin tone the regressor alone decides
            _head(expert, read[task][kind], folder / EXPERTS[task][kind])
        model.experts[expert_name(task, kind)].load_state_dict(expert.state_dict())
    widths = {kind: int(model.expert("skin_tone", kind).width) for kind in _JOINED}
    if layers[0][0].shape[1] != sum(widths.values()) or len(layers[-1][0]) != 1:
        shapes = ", ".join(str(tuple(weight.shape)) for weight, _ in layers)
        raise _layout(folder / FUSION, f"layers {shapes}", f"from {sum(widths.values())} numbers to one")
    parts = dict(zip(_JOINED, torch.split(layers[0][0], list(widths.values()), 1), strict=True))
    layers[0] = torch.cat([parts[kind] for kind in model.config.kinds], dim=1), layers[0][1]
    linear = [layer for layer in model.fusion["skin_tone"].modules() if isinstance(layer, nn.Linear)]
    for layer, (weight, bias) in zip(linear, layers, strict=True):
        layer.load_state_dict({"weight": weight, "bias": bias})
    model.eval().save_pretrained(out)
    return model


def _read(file: Path) -> Weights:
    """The tensors of a file, without the prefix of several devices."""
    try:
        read = torch.load(file, map_location="cpu", weights_only=True)
    except (UnpicklingError, RuntimeError, EOFError, ValueError) as error:
        what, mend = str(error).partition("\n")[0][:200], "save `model.state_dict()` where the file can be trusted"
        raise BuildError("MODEL_UNSAFE", file.name, what, "a state dict of tensors alone", mend) from error
    if not isinstance(read, Mapping) or not all(isinstance(value, torch.Tensor) for value in read.values()):
        raise _layout(file, type(read).__name__, "a state dict")
    return {str(name).removeprefix("module."): value.float() for name, value in read.items()}


def _backbone(kind: str, weights: Weights, file: Path) -> tuple[dict[str, Any], nn.Module]:
    """Architecture and backbone of an expert; heads have 64 numbers, as in the checkpoints that the paper names."""
    prefix = _BODY[kind]
    body = {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}
    if kind == "clip":
        body = {name: value for name, value in body.items() if name.startswith(("vision_model.", "visual_projection."))}
    try:
        config = _convnext(body) if kind == "convnext" else _transformer(kind, body)
        empty: Any = backbone(kind, config)
        loaded, loading = type(empty).from_pretrained(
            None, config=empty.config, state_dict=body, output_loading_info=True
        )
    except (KeyError, IndexError, StopIteration, ValueError, RuntimeError) as error:
        raise _layout(file, f"{error!r}"[:200], f"{prefix}*, a backbone of transformers") from error
    if lacking := sorted(name for name in loading["missing_keys"] if not name.endswith(("mask_token", "position_ids"))):
        raise _layout(file, f"no {prefix}{lacking[0]}", f"all of {prefix}*")
    return config, loaded


def _transformer(kind: str, body: Weights) -> dict[str, Any]:
    clip = kind == "clip"
    within_embeddings = "vision_model.embeddings." if clip else "embeddings."
    patch = body[within_embeddings + ("patch_embedding.weight" if clip else "patch_embeddings.projection.weight")]
    places = body[within_embeddings + ("position_embedding.weight" if clip else "position_embeddings")]
    blocks = {int(match[1]) for name in body if (match := re.search(r"encoder\.layers?\.(\d+)\.", name))}
    within = next(value for name, value in body.items() if name.endswith("mlp.fc1.weight"))
    width, side = int(patch.shape[0]), int(patch.shape[-1])
    config: dict[str, Any] = {
        "hidden_size": width,
        "num_hidden_layers": len(blocks),
        "num_attention_heads": max(1, width // 64),
        "patch_size": side,
        "image_size": round((places.shape[-2] - 1) ** 0.5) * side,
    }
    if clip:
        return {**config, "intermediate_size": len(within), "projection_dim": len(body["visual_projection.weight"])}
    return {**config, "mlp_ratio": len(within) // width}


def _convnext(body: Weights) -> dict[str, Any]:
    stages: dict[int, list[int]] = {}
    for name, value in body.items():
        if match := re.fullmatch(r"encoder\.stages\.(\d+)\.layers\.\d+\.dwconv\.weight", name):
            stages.setdefault(int(match[1]), []).append(len(value))
    sizes = [stages[number] for number in range(len(stages))]
    return {"hidden_sizes": [each[0] for each in sizes], "depths": list(map(len, sizes)), "num_stages": len(sizes)}


def _head(expert: Expert, weights: Weights, file: Path) -> None:
    """Fill an expert's head, its labels in our order."""
    order = [_THEIRS.index(label) for label in AGE_GENDER["labels"]]
    if expert.kind == "clip":
        heat = weights.get("temperature", weights.get("clip_model.logit_scale"))
        prototypes = weights.get("text_prototypes")
        if prototypes is None or heat is None or prototypes.shape != expert.prototypes.shape:
            shape = "none" if prototypes is None else str(tuple(prototypes.shape))
            raise _layout(file, f"text_prototypes: {shape}", f"{tuple(expert.prototypes.shape)}, and a logit scale")
        expert.prototypes.data, expert.temperature.data = prototypes[order], heat.reshape(())
        return
    head = {name: value for name, value in weights.items() if name.startswith("classifier_head.")}
    ((weight, bias), *more) = _linear(head, file)
    if more or weight.shape != expert.head.weight.shape:
        raise _layout(file, f"a head of {len(more) + 1} layers, {tuple(weight.shape)}", "one linear layer, six labels")
    expert.head.load_state_dict({"weight": weight[order], "bias": bias[order]})


def _linear(weights: Weights, file: Path) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Weight and bias of linear layers, in order. BuildError SOURCE_LAYOUT if there is anything else, or nothing."""
    names = [name.removesuffix("weight") for name, value in weights.items() if value.dim() == 2]
    if not names or set(weights) != {f"{name}{part}" for name in names for part in ("weight", "bias")}:
        raise _layout(file, f"the tensors {', '.join(weights)[:120]}", "weights and biases of linear layers alone")
    return [(weights[f"{name}weight"], weights[f"{name}bias"]) for name in names]


def _layout(file: Path, what: str, expected: str) -> BuildError:
    return BuildError("SOURCE_LAYOUT", file.name, what, expected, _AGAIN)
