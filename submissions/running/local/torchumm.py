"""Unified models by TorchUMM, one pipeline for answers (`torchumm/BACKBONE`) and for images (`torchumm:BACKBONE`).

TorchUMM's package `umm`, its backbone and their environment are the user's own. Facts about the backbones are those of
its adapters at commit 083395e of AIFrontierLab/TorchUMM.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from PIL.Image import Image

from fairspace.builders.engine.tools import Prompt
from fairspace.builders.models import weights
from fairspace.builders.models.opening import Fields
from fairspace.submissions.format.manifest import version
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.images.made import Made, Setting, checked, failed

SEEDS = {"omnigen2": "seed", "ovis_u1": "seed", "deepgen": "seed", "tokenflow": "g_seed"}
"""Backbone -> field of a request that takes its seed, without which every image has the same; others draw by torch."""
_LENGTH = {"bagel": "max_think_token_n"}
"""Backbone -> field for the longest answer in tokens, if it is not `max_new_tokens`."""
Given = Mapping[str, Any]


class TorchUmm:
    """A backbone of TorchUMM, loaded when used.

    Args:
        cfg: configuration of the backbone (`backbone_cfg`), such as `model_path`.
        params: fields of every request, such as `parallel_size` or `num_timesteps`.
        seed: field that takes a request's seed; '' is that of `SEEDS`. torch's generators are seeded in any case.
    """

    engine = "torchumm"
    batch = concurrency = 1

    def __init__(
        self, backbone: str, *, cfg: str | Given = "", params: str | Given = "", seed: str = "", revision: str = ""
    ) -> None:
        self.name, self._cfg, self._params = backbone, Fields(cfg), Fields(params)
        self.revision, self._seed = revision or weights_revision(cfg), seed or SEEDS.get(backbone, "")
        self._before: tuple[str, int, bytes | None] = ("", 0, None)
        self.engine_version = version("umm") or "not stated"

    def settings(self) -> dict[str, Setting]:
        """Configuration and fields of a request; of a path its last part."""
        settings = {**self._cfg.flat("cfg"), **self._params.flat("params"), "seeded": self._seed or "torch"}
        return {name: Path(value).name if isinstance(value, str) else value for name, value in settings.items()}

    @property
    def pipeline(self) -> Any:
        """TorchUMM's pipeline, one for both directions. RunError MODEL_UNKNOWN if it cannot be opened."""
        return _opened(self.name, json.dumps(self._cfg, sort_keys=True))

    def make(self, prompts: Sequence[Prompt]) -> list[Made]:
        """An image for each prompt. RunError MODEL_OUTPUT if another seed gives the same image."""
        self.pipeline  # noqa: B018 - what cannot be opened is no failure of a prompt
        return [self._made(prompt) for prompt in prompts]

    def _made(self, prompt: Prompt) -> Made:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "image.png"
            try:
                response = self._run("generation", prompt.text, prompt.seed, {}, output_path=str(file))
            except Exception as error:  # noqa: BLE001 - whatever breaks in a model is the fate of this prompt
                return failed(f"{type(error).__name__}: {error}")
            shown = (
                each for each in (response.get("image"), *(response.get("images") or ())) if isinstance(each, Image)
            )
            image = next(shown, None) or (file.read_bytes() if file.is_file() else None)
        made = (
            checked(image)
            if image
            else failed(f"no image: {response.get('error')} {str(response.get('stderr'))[-200:]}")
        )
        before, self._before = self._before, (prompt.text, prompt.seed, made.image)
        if made.image and before[::2] == self._before[::2] and before != self._before:
            what, expected = "the same image for another seed", "images that follow their seeds"
            raise self._wrong(what, expected, "name the field of a request that takes the seed: seed=FIELD")
        return made

    def answer(
        self,
        prompt: str,
        images: Sequence[Image],
        temperature: float | None = None,
        top_p: float | None = None,
        max_tokens: int | None = None,
        seed: int | None = None,
    ) -> str:
        """The answer to a prompt with at most one image. RunError MODEL_OUTPUT for settings that are not heeded."""
        if len(images) > 1 or temperature or top_p is not None:
            what = f"{len(images)} images, temperature {temperature}, top_p {top_p}"
            expected = "one image, and temperature 0 or the backbone's own: few backbones heed another"
            raise self._wrong(what, expected, "leave it out, or name the backbone's own fields (params)")
        asked = {} if max_tokens is None else {_LENGTH.get(self.name, "max_new_tokens"): max_tokens}
        asked |= {} if temperature is None else {"do_sample": False}
        with TemporaryDirectory() as folder:
            files = [str(Path(folder) / f"{place}.png") for place in range(len(images))]
            for image, file in zip(images, files, strict=True):
                image.save(file)
            response = self._run("understanding", prompt, seed, asked, images=files)
        response = next(iter(response.get("understandings") or ()), response)  # OmniGen2's
        text = response.get("text", response.get("response"))
        if not isinstance(text, str) or not (text or images):
            raise ValueError(f"no text: {response.get('error')} {str(response.get('stderr'))[-200:]}")
        return text

    def _run(self, task: str, prompt: str, seed: int | None, asked: Given, **more: Any) -> dict[str, Any]:
        params = {**asked, **self._params}
        if seed is not None:
            random.seed(seed)
            np.random.seed(seed % 2**32)
            torch.manual_seed(seed)
            params |= {self._seed: seed} if self._seed else {}
        request = import_module("umm.inference.multimodal_inputs").InferenceRequest
        return dict(self.pipeline.run(request(backbone=self.name, task=task, prompt=prompt, params=params, **more)))

    def _wrong(self, what: str, expected: str, mend: str) -> RunError:
        return RunError("MODEL_OUTPUT", f"torchumm:{self.name}", what, expected, mend)


def weights_revision(cfg: str | Given) -> str:
    """Hash of the folder of weights that a configuration names; 'not stated' without one."""
    folder = Path(str(Fields(cfg).get("model_path") or "/dev/null")).expanduser()
    return f"sha256 {weights.folder_hash(folder)[:16]}" if folder.is_dir() else "not stated"


@lru_cache(1)
def _opened(backbone: str, cfg: str) -> Any:
    try:
        return import_module("umm.inference.pipeline").InferencePipeline(backbone, json.loads(cfg))
    except Exception as error:
        what = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        mend = "run in the backbone's environment, with TorchUMM's folder `src` in PYTHONPATH; mend `cfg`"
        where, expected = f"torchumm:{backbone}", "a backbone that TorchUMM can open"
        raise RunError("MODEL_UNKNOWN", where, what, expected, mend) from error
