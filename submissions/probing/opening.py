"""Open a model to be probed: a folder or ID[@REVISION] of transformers or diffusers, or the user's own code.

Weights are read from safetensors alone and no code of the model's is run. `python:./FILE.py:FUNCTION` is code that the
person at the command line names: a function of a device that returns (model, tokenizer, image processor).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from fairspace.builders.errors import BuildError
from fairspace.builders.models import weights
from fairspace.submissions.probing.recipe import Recipe
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.local.own_code import find_function

_FORM = "python:MODULE:FUNCTION, or python:./FILE.py:FUNCTION"


@dataclass(frozen=True)
class Opened:
    """A model that can be run.

    Args:
        model: a module, or a pipeline with modules.
        tokenizer: tokenizer of its language model; None without one, like `image_processor`.
        name: public name: id@commit, or the folder's own name with a hash of its content.
        revision: commit, or hash of the folder's content or the user's file.
    """

    model: Any
    modules: Mapping[str, nn.Module]
    tokenizer: Any = None
    image_processor: Any = None
    name: str = "model"
    revision: str = "not stated"


def open_model(model: str, recipe: Recipe, device: str = "", dtype: str = "") -> Opened:
    """The model called `model`, ready for a recipe. RunError MODEL_UNKNOWN if it cannot be opened."""
    device = weights.best_device(device)
    kind = getattr(torch, dtype or ("float32" if device.startswith("cpu") else "bfloat16"))
    if model.startswith("python:"):
        return _own(model, device)
    marker = "model_index.json" if recipe.opens == "diffusers" else "config.json"
    try:
        source = weights.find(model, marker)
    except BuildError as error:
        raise RunError("MODEL_UNKNOWN", error.where, error.what, error.expected, error.mend) from error
    at = {"revision": source.revision} if source.revision else {}
    said = source.revision or source.name.rpartition("(")[2].rstrip(")")
    try:
        listed = json.loads(source.marker.read_text(encoding="utf-8"))
        classes = [listed.get("_class_name")] if recipe.opens == "diffusers" else listed.get("architectures") or []
        if recipe.architectures and not set(classes) & set(recipe.architectures):
            what, mend = f"a {', '.join(map(str, classes)) or 'model of no class'}", "name another recipe, or write one"
            expected = f"{' or '.join(recipe.architectures)}, which the recipe {recipe.name} is for"
            raise RunError("MODEL_UNKNOWN", model, what, expected, mend)
        if recipe.opens == "diffusers":
            opened = _pipeline(source.where, at, kind, device)
        else:
            opened = _module(source.where, at, kind, device, classes)
    except (OSError, ValueError, ImportError, AttributeError, KeyError) as error:
        what = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        expected = f"a model that {recipe.opens} can open, with safetensors weights"
        raise RunError("MODEL_UNKNOWN", model, what, expected, "name another model, or your own code") from error
    whole, tokenizer, processor = opened
    return Opened(whole, named(whole), tokenizer, processor, source.name, said)


def named(model: Any) -> dict[str, nn.Module]:
    """All modules of a model or pipeline by name; '' is the model itself."""
    if isinstance(model, nn.Module):
        return dict(model.named_modules())
    by_name: dict[str, nn.Module] = {}
    for part, module in getattr(model, "components", {}).items():
        if isinstance(module, nn.Module):
            by_name |= {f"{part}.{name}".rstrip("."): each for name, each in module.named_modules()}
    return by_name


def _module(where: str, at: Mapping[str, str], kind: Any, device: str, classes: list[str]) -> tuple[Any, Any, Any]:
    import transformers

    opener = getattr(transformers, str(classes[0]), None) if classes else None
    if not (isinstance(opener, type) and issubclass(opener, transformers.PreTrainedModel)):
        raise ValueError(f"transformers has no model class {classes[0] if classes else None!r}")
    opening: Any = opener
    model = opening.from_pretrained(where, dtype=kind, use_safetensors=True, **at).to(device).eval()
    return model, _tokenizer(where, at), _image_processor(where, at)


def _pipeline(where: str, at: Mapping[str, str], kind: Any, device: str) -> tuple[Any, Any, Any]:
    from diffusers import DiffusionPipeline

    pipeline = DiffusionPipeline.from_pretrained(where, dtype=kind, use_safetensors=True, **at).to(device)
    pipeline.set_progress_bar_config(disable=True)
    for module in named(pipeline).values():
        module.eval()
    return pipeline, getattr(pipeline, "tokenizer", None), None


def _tokenizer(where: str, at: Mapping[str, str]) -> Any:
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(where, **at)
    except (OSError, ValueError):  # a model without words; a stage that needs them says so
        return None


def _image_processor(where: str, at: Mapping[str, str]) -> Any:
    from transformers import AutoImageProcessor

    try:
        return AutoImageProcessor.from_pretrained(where, backend="pil", **at)
    except (OSError, ValueError):  # a model without eyes; a stage that needs them says so
        return None


def _own(model: str, device: str) -> Opened:
    code = find_function(model.removeprefix("python:"), where=model, form=_FORM)
    opened = code.function(device)
    if not isinstance(opened, tuple) or len(opened) != 3 or not named(opened[0]):
        expected = "(model, tokenizer, image processor)"
        raise RunError("MODEL_OUTPUT", model, f"a {type(opened).__name__}", expected, "correct the function")
    whole, tokenizer, processor = opened
    return Opened(whole, named(whole), tokenizer, processor, code.name, code.revision)
