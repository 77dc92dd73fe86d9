"""Shows stimuli to a model and keeps one vector of each: texts of equal length share batches, so nothing is padded."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from fairspace.submissions.probing.hooks import Floats, find_module, taking
from fairspace.submissions.probing.opening import Opened
from fairspace.submissions.probing.recipe import Call, Recipe, Stage
from fairspace.submissions.running.errors import RunError

METHODS = ("forward", "generate", "get_image_features", "get_text_features", "encode_prompt")
"""What a recipe may call besides a module or the pipeline itself."""
_LONGEST_CACHE = "_previous_max_cache_length"


@dataclass(frozen=True)
class Found:
    """What a stage gave for one stimulus.

    Args:
        vectors: of each call that was kept, shape (calls, dimensions); one call but for `step`.
        ratio: participation ratio over the positions of the first call; nan where it has one position.
    """

    vectors: Floats
    ratio: float


Extracted = dict[str, list[Found]]
"""Stage -> what it gave for each stimulus, in their order."""


class Extractor:
    """Runs a model by a recipe.

    Args:
        opened: the model.
        recipe: which modules are what.
        seed: of all that is drawn while an image is made; the same for every stimulus, whatever shares its batch.
        tell: called with what was done and how many stimuli.

    Errors: RunError RECIPE_INVALID before anything is run, if the model has no such module or call.
    """

    def __init__(
        self, opened: Opened, recipe: Recipe, seed: int = 0, tell: Callable[[str, int], None] = lambda _what, _n: None
    ) -> None:
        self.opened, self.recipe, self.seed, self._tell = opened, recipe, seed, tell
        for name, stage in recipe.stages.items():
            find_module(opened.modules, stage.module, f"{recipe.name}: stages.{name}.module")
        for part in ("image", "words", "generate"):
            call: Call | None = getattr(recipe, part)
            if call is not None:
                self._callable(call, part)
                if part != "image" and opened.tokenizer is None:
                    raise RunError("MODEL_UNKNOWN", opened.name, "no tokenizer", "one", "name another model")

    def words(self, texts: Sequence[str]) -> list[Found]:
        """The `words` stage of bare terms."""
        call = self.recipe.words
        assert call is not None
        return self._texts(texts, call, ("words",))["words"]

    def prompts(self, texts: Sequence[str], stages: Sequence[str], steps: int = 1) -> Extracted:
        """Stages of prompts for images; the making of an image ends when `steps` calls of each were kept."""
        call = self.recipe.generate
        assert call is not None
        return self._texts(texts, call, stages, steps)

    def images(self, files: Sequence[Path]) -> list[Found]:
        """The `vision` stage of image files; one batch of them is in memory. RunError DATA_INVALID if one is none."""
        call = self.recipe.image
        assert call is not None
        processor = self._processor(call)
        vectors: list[Found] = []
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

    def _texts(self, texts: Sequence[str], call: Call, stages: Sequence[str], steps: int = 1) -> Extracted:
        whole = [f"{call.prefix}{text}{call.suffix}" for text in texts]
        tokens = [self.opened.tokenizer(text, add_special_tokens=call.special)["input_ids"] for text in whole]
        by_stage: dict[str, dict[int, Found]] = {name: {} for name in stages}
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
                if call.gives == "prompt":
                    inputs: dict[str, Any] = {"prompt": [whole[i] for i in batch]}
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
        self, call: Call, part: str, stages: Sequence[str], batch: int, inputs: Mapping[str, Any], steps: int
    ) -> Extracted:
        chosen: dict[str, Stage] = {name: stage for name, stage in self.recipe.stages.items() if name in stages}
        function = self._callable(call, part)
        if part == "tokens" and "Embedding" in type(function).__name__:
            inputs = {"input": inputs["input_ids"]}
        _forget(self.opened.modules.values())
        random.seed(self.seed)
        np.random.seed(self.seed)
        torch.manual_seed(self.seed)
        with taking(self.opened.modules, chosen, batch, steps=steps) as taken:
            function(**inputs, **call.arguments)
        for name, each in taken.items():
            if not each.vectors:
                what, expected = "it was not called", "a module that takes part in the call"
                where = f"stage {name}, module {chosen[name].module}"
                raise RunError("MODEL_OUTPUT", where, what, expected, "mend the recipe")
        return {
            name: [
                Found(np.stack([vectors[row] for vectors in each.vectors]), float(each.ratios[0][row]))
                for row in range(batch)
            ]
            for name, each in taken.items()
        }

    def _callable(self, call: Call, part: str) -> Any:
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

    def _processor(self, call: Call) -> Any:
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
    """Let no call follow from earlier ones: transformers keeps the length of the longest cache, and so its rounding."""
    for module in modules:
        if hasattr(module, _LONGEST_CACHE):
            setattr(module, _LONGEST_CACHE, -1)


def _image(file: Path) -> Any:
    from PIL import Image

    try:
        with Image.open(file) as image:
            return image.convert("RGB")
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        expected, mend = "an image that Pillow can read", "replace it, or take it out of the folder"
        raise RunError("DATA_INVALID", str(file), str(error)[:200], expected, mend) from error
