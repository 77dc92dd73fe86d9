"""Open a model to be probed, show it stimuli and keep one pooled vector of each.

Texts of equal length share batches, without padding.
"""

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fairspace.builders.errors import BuildError
from fairspace.builders.models import weights
from fairspace.metrics.embedding_complexity.formula import participation_ratio
from fairspace.submissions.errors import RunError
from fairspace.submissions.probing.recipe import ModelCall, ProbeStage, Recipe
from fairspace.submissions.running.local.found import find_function

# Weights are read from safetensors alone and no code of the model's is run. `python:./FILE.py:FUNCTION` is code that
# the person at the command line names: a function of a device that returns (model, tokenizer, image processor).

_FORM = "python:MODULE:FUNCTION, or python:./FILE.py:FUNCTION"


@dataclass(frozen=True)
class OpenedModel:
    """A model that can be run.

    Args:
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


def open_model(model: str, recipe: Recipe, device: str = "", dtype: str = "") -> OpenedModel:
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
    revision = source.revision or source.name.rpartition("(")[2].rstrip(")")
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
    return OpenedModel(whole, named(whole), tokenizer, processor, source.name, revision)


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


def _own(model: str, device: str) -> OpenedModel:
    code = find_function(model.removeprefix("python:"), where=model, form=_FORM)
    opened = code.function(device)
    if not isinstance(opened, tuple) or len(opened) != 3 or not named(opened[0]):
        expected = "(model, tokenizer, image processor)"
        raise RunError("MODEL_OUTPUT", model, f"a {type(opened).__name__}", expected, "correct the function")
    whole, tokenizer, processor = opened
    return OpenedModel(whole, named(whole), tokenizer, processor, code.name, code.revision)


Floats = NDArray[np.float64]


class Enough(BaseException):
    """Every stage has its vectors, so the call ends. Not an Exception, so that no model's code swallows it."""


@dataclass
class Taken:
    """Results of one stage for each call of its module, in double precision.

    `vectors` are (batch, dimensions); `ratios` (batch,) are participation ratios over positions, nan for a single one.
    """

    vectors: list[Floats] = field(default_factory=list)
    ratios: list[Floats] = field(default_factory=list)


def find_module(modules: Mapping[str, nn.Module], name: str, where: str) -> nn.Module:
    """The module of a name. RunError RECIPE_INVALID names similar ones."""
    if name in modules:
        return modules[name]
    tail = name.rpartition(".")[2]
    near = get_close_matches(name, modules, n=3, cutoff=0.5)
    near += [path for path in modules if path.rpartition(".")[2] == tail and path not in near][: 3 - len(near)]
    expected = f"a module of the model, such as {', '.join(near) or ', '.join(list(modules)[1:4])}"
    mend = "write the name as `model.named_modules()` has it"
    raise RunError("RECIPE_INVALID", where, f"no module {name!r}", expected, mend)


@contextmanager
def taking(
    modules: Mapping[str, nn.Module], stages: Mapping[str, ProbeStage], batch: int, *, steps: int = 1
) -> Iterator[dict[str, Taken]]:
    """Hooks on the modules of some stages for the length of a `with` block, until each has vectors of `steps` calls.

    Errors: RunError RECIPE_INVALID if a module does not exist; MODEL_OUTPUT if its output cannot be pooled.
    """
    results = {name: Taken() for name in stages}
    handles: list[Any] = []

    def keep(name: str, value: Any) -> None:
        taken = results[name]
        if len(taken.vectors) < steps:
            vectors, ratios = pooled(value, stages[name], batch, f"stage {name}, module {stages[name].module}")
            taken.vectors.append(vectors)
            taken.ratios.append(ratios)
        if all(len(each.vectors) >= steps for each in results.values()):
            raise Enough

    def hooked(name: str, side: str) -> Any:
        if side == "input":
            return lambda _module, args, kwargs: keep(name, {str(n): each for n, each in enumerate(args)} | kwargs)
        return lambda _module, _args, output: keep(name, output)

    try:
        for name, stage in stages.items():
            module = find_module(modules, stage.module, f"stages.{name}.module")
            hook = hooked(name, stage.side)
            handles.append(
                module.register_forward_pre_hook(hook, with_kwargs=True)
                if stage.side == "input"
                else module.register_forward_hook(hook)
            )
        try:
            yield results
        except Enough:
            return
    finally:
        for handle in handles:
            handle.remove()


def pooled(output: Any, stage: ProbeStage, batch: int, where: str) -> tuple[Floats, Floats]:
    """One vector per stimulus (batch, dimensions), and the participation ratio over its positions (batch,).

    RunError MODEL_OUTPUT without a tensor, or if its shape does not fit the pooling, or it is not finite.
    """
    tensor = _tensor(output, stage.take)
    if tensor is None:
        what, expected = f"a {type(output).__name__} without it", f"a tensor{f' {stage.take!r}' if stage.take else ''}"
        raise RunError("MODEL_OUTPUT", where, what, expected, "correct `take` in the recipe")
    tensor = tensor.detach()
    if stage.rows != "all":
        half = len(tensor) // 2
        tensor = tensor[:half] if stage.rows == "first_half" else tensor[half:]
    needed = {"map": 4, "flat": 2, "vector": 2}.get(stage.pool, 3)
    rows = 1 if stage.pool == "flat" else len(tensor)
    if tensor.ndim != needed or rows != batch:
        what = f"shape {tuple(tensor.shape)} for {batch} stimuli"
        expected = f"{needed} dimensions for pool = {stage.pool!r}, with {batch} rows"
        raise RunError("MODEL_OUTPUT", where, what, expected, "correct `pool`, `rows` or `batch` in the recipe")
    positions = _positions(tensor, stage.pool).to(device="cpu", dtype=torch.float64).numpy()
    if not np.isfinite(positions).all():
        mend = "open the model in a wider number format"
        raise RunError("MODEL_OUTPUT", where, "numbers that are not finite", "finite ones", mend)
    place = {"last": -1, "first": 0}.get(stage.pool)
    vectors = positions.mean(axis=1) if place is None else positions[:, place]
    return np.array(vectors), np.array([participation_ratio(each) for each in positions])


def _positions(tensor: Tensor, pool: str) -> Tensor:
    """The tensor in shape (batch, positions, dimensions)."""
    if pool == "map":
        return tensor.flatten(2).transpose(1, 2)
    if pool == "flat":
        return tensor[None]
    return tensor[:, None] if pool == "vector" else tensor


def _tensor(value: Any, take: str) -> Tensor | None:
    """The tensor named `take` in a tensor, a tuple, a mapping or a dataclass."""
    if isinstance(value, Tensor):
        return value if not take else None
    if take:
        if isinstance(value, list | tuple):
            output = value[int(take)] if take.lstrip("-").isdigit() and -len(value) <= int(take) < len(value) else None
        else:
            output = value.get(take) if isinstance(value, Mapping) else getattr(value, take, None)
        return _tensor(output, "")
    hidden = getattr(value, "last_hidden_state", None)
    if isinstance(hidden, Tensor):
        return hidden
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    floats = [part for part in parts if isinstance(part, Tensor) and part.is_floating_point()]
    return floats[0] if floats else None


METHODS: tuple[str, ...] = ("forward", "generate", "get_image_features", "get_text_features", "encode_prompt")
METHODS += ("extract_visual_feature", "sample")  # Harmon's
"""Methods that a recipe may call besides a module or the pipeline itself."""
_LONGEST_CACHE = "_previous_max_cache_length"


@dataclass(frozen=True)
class StageVectors:
    """Result of a stage for one stimulus: vectors (calls, dimensions), more than one for `step` alone.

    `ratio`: participation ratio over the positions of the first call; nan for a single position.
    """

    vectors: Floats
    ratio: float


Extracted = dict[str, list[StageVectors]]
"""Stage -> its result for each stimulus, in order."""


class Extractor:
    """A model run by a recipe; every stimulus has the same seed for all draws while an image is made.

    Errors: RunError RECIPE_INVALID before anything is run, if the model has no such module or call.
    """

    def __init__(
        self,
        opened: OpenedModel,
        recipe: Recipe,
        seed: int = 0,
        tell: Callable[[str, int], None] = lambda _what, _n: None,
    ) -> None:
        self.opened, self.recipe, self.seed, self._tell = opened, recipe, seed, tell
        for name, stage in recipe.stages.items():
            find_module(opened.modules, stage.module, f"{recipe.name}: stages.{name}.module")
        for part in ("image", "words", "generate"):
            call: ModelCall | None = getattr(recipe, part)
            if call is not None:
                self._callable(call, part)
                if part != "image" and opened.tokenizer is None:
                    raise RunError("MODEL_UNKNOWN", opened.name, "no tokenizer", "one", "name another model")

    def words(self, texts: Sequence[str]) -> list[StageVectors]:
        """The `words` stage of bare terms."""
        call = self.recipe.words
        assert call is not None
        return self._texts(texts, call, ("words",))["words"]

    def prompts(self, texts: Sequence[str], stages: Sequence[str], steps: int = 1) -> Extracted:
        """Stages of prompts for images; an image's generation ends after `steps` calls of each stage."""
        call = self.recipe.generate
        assert call is not None
        return self._texts(texts, call, stages, steps)

    def images(self, files: Sequence[Path]) -> list[StageVectors]:
        """The `vision` stage of image files, read by the batch. RunError DATA_INVALID for other files."""
        call = self.recipe.image
        assert call is not None
        processor = self._processor(call)
        vectors: list[StageVectors] = []
        for start in range(0, len(files), call.batch):
            batch = [_image(file) for file in files[start : start + call.batch]]
            encoded = processor(images=batch, return_tensors="pt")
            if absent := [key for key in call.inputs.values() if key not in encoded]:
                expected = ", ".join(encoded)
                raise RunError("RECIPE_INVALID", "image.inputs", absent[0], expected, "mend the recipe")
            inputs = {name: self._placed(encoded[key]) for name, key in call.inputs.items()}
            vectors += self._run(call, "image", ("vision",), len(batch), inputs, 1)["vision"]
            self._tell("images", len(batch))
        return vectors

    def _texts(self, texts: Sequence[str], call: ModelCall, stages: Sequence[str], steps: int = 1) -> Extracted:
        whole = [f"{call.prefix}{text}{call.suffix}" for text in texts]
        tokens = [self.opened.tokenizer(text, add_special_tokens=call.special)["input_ids"] for text in whole]
        by_stage: dict[str, dict[int, StageVectors]] = {name: {} for name in stages}
        lengths = {length: [i for i, ids in enumerate(tokens) if len(ids) == length] for length in map(len, tokens)}
        for length, places in sorted(lengths.items()):
            if not length:
                raise RunError(
                    "MODEL_UNKNOWN",
                    self.opened.name,
                    f"no tokens for {whole[places[0]]!r}",
                    "one or more",
                    "correct the recipe",
                )
            for start in range(0, len(places), call.batch):
                batch = places[start : start + call.batch]
                if call.gives != "tokens":
                    inputs: dict[str, Any] = {call.gives: [whole[i] for i in batch]}
                    if call.gives == "prompt":
                        inputs["generator"] = [torch.Generator().manual_seed(self.seed) for _ in batch]
                else:
                    ids = torch.tensor([tokens[i] for i in batch])
                    inputs = {"input_ids": self._placed(ids), "attention_mask": self._placed(torch.ones_like(ids))}
                by_name = self._run(call, call.gives, stages, len(batch), inputs, steps)
                for name in stages:
                    by_stage[name] |= dict(zip(batch, by_name[name], strict=True))
                self._tell("texts", len(batch))
        return {name: [each[i] for i in range(len(texts))] for name, each in by_stage.items()}

    @torch.inference_mode()
    def _run(
        self, call: ModelCall, part: str, stages: Sequence[str], batch: int, inputs: Mapping[str, Any], steps: int
    ) -> Extracted:
        recipe_stages: dict[str, ProbeStage] = {
            name: stage for name, stage in self.recipe.stages.items() if name in stages
        }
        function = self._callable(call, part)
        if part == "tokens" and "Embedding" in type(function).__name__:
            inputs = {"input": inputs["input_ids"]}
        _forget(self.opened.modules.values())
        random.seed(self.seed)
        np.random.seed(self.seed)
        torch.manual_seed(self.seed)
        with taking(self.opened.modules, recipe_stages, batch, steps=steps) as taken:
            function(**inputs, **call.arguments)
        for name, each in taken.items():
            if not each.vectors:
                what, expected = "it was not called", "a module that takes part in the call"
                where = f"stage {name}, module {recipe_stages[name].module}"
                raise RunError("MODEL_OUTPUT", where, what, expected, "mend the recipe")
        return {
            name: [
                StageVectors(np.stack([vectors[row] for vectors in each.vectors]), float(each.ratios[0][row]))
                for row in range(batch)
            ]
            for name, each in taken.items()
        }

    def _callable(self, call: ModelCall, part: str) -> Any:
        if not call.call:
            return self.opened.model
        if call.call in self.opened.modules:
            return self.opened.modules[call.call]
        owner, _, method = call.call.rpartition(".")
        holder = self.opened.modules.get(owner) if owner else self.opened.model
        if holder is None or method not in METHODS or not callable(getattr(holder, method, None)):
            if method in METHODS and owner:
                find_module(self.opened.modules, owner, f"{self.recipe.name}: {part}.call")
            if method not in METHODS:
                find_module(self.opened.modules, call.call, f"{self.recipe.name}: {part}.call")
            expected = f"a module, or one of the methods {', '.join(METHODS)} of one"
            raise RunError("RECIPE_INVALID", f"{self.recipe.name}: {part}.call", call.call, expected, "mend the recipe")
        return getattr(holder, method)

    def _processor(self, call: ModelCall) -> Any:
        if self.opened.image_processor is not None:
            return self.opened.image_processor
        import transformers

        processor = (
            getattr(transformers, call.processor, None) if call.processor.endswith("ImageProcessorPil") else None
        )
        if processor is None:
            expected = "the class of one in transformers (...ImageProcessorPil)"
            what = "no image processor in the model's folder"
            raise RunError("RECIPE_INVALID", f"{self.recipe.name}: image.processor", what, expected, "name it")
        return processor()

    def _placed(self, value: Any) -> Any:
        first = next(weight for module in self.opened.modules.values() for weight in module.parameters())
        return value.to(first.device, first.dtype if value.is_floating_point() else None)


def _forget(modules: Iterable[Any]) -> None:
    """Reset the length of the longest cache, by which transformers lets rounding depend on earlier calls."""
    for module in modules:
        if hasattr(module, _LONGEST_CACHE):
            setattr(module, _LONGEST_CACHE, -1)


def _image(file: Path) -> Any:
    from fairspace.ares.fates_ares import ImageLimits
    from fairspace.ares.reading_ares import quiet, read_image

    with quiet():
        image, fate = read_image(file, ImageLimits(side=1), 0)
    if image is None:
        mend = "replace it, or take it out of the folder"
        raise RunError("DATA_INVALID", str(file), f"{fate.reason}: {fate.detail}"[:200], "an image", mend)
    return image
