"""Unified models by TorchUMM, one pipeline for answers (`torchumm/BACKBONE`) and for images (`torchumm:BACKBONE`).

TorchUMM's package `umm`, its backbone and their environment are the user's own. Facts about the backbones are those of
its adapters at commit 083395e of AIFrontierLab/TorchUMM.
"""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from PIL.Image import Image

from fairspace.builders.engine.tools import ImagePrompt
from fairspace.builders.models import weights
from fairspace.builders.models.opening import Fields
from fairspace.submissions.errors import RunError
from fairspace.submissions.format.manifest import version
from fairspace.submissions.running.images.made import GeneratedImage, ImageModel, Setting, failed

Given = Mapping[str, Any]


class Backbone(NamedTuple):
    """A backbone as its adapter has it; `torchumm.toml` says what each field means."""

    answers: Literal["all", "picture", "none"] = "all"
    seed: str = "torch"
    many: bool = False
    asked: Given = MappingProxyType({})
    length: str = "max_new_tokens"
    needs: Mapping[str, str] = MappingProxyType({})


_TABLE: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
BACKBONES = {name: Backbone(**fields) for name, fields in _TABLE.items()}
"""The known backbones; another one is taken to do all."""


class TorchUmm(ImageModel):
    """A backbone of TorchUMM, loaded when used.

    Args:
        cfg: configuration of the backbone (`backbone_cfg`), such as `model_path`.
        params: fields of every request, such as `num_timesteps`.
        seed: field that takes a request's seed; '' is that of `BACKBONES`. torch's generators are seeded in any case.

    Errors: RunError MODEL_UNKNOWN if a folder lacks that the backbone needs.
    """

    engine = "torchumm"

    def __init__(
        self, backbone: str, *, cfg: str | Given = "", params: str | Given = "", seed: str = "", revision: str = ""
    ) -> None:
        self.name, self._cfg, self._params = backbone, Fields(cfg), Fields(params)
        self._backbone = BACKBONES.get(backbone, Backbone())
        self._seed, folder = seed or self._backbone.seed, Path(str(self._cfg.get("model_path", ""))).expanduser()
        of_folder = f"sha256 {weights.folder_hash(folder)[:16]}" if folder.name and folder.is_dir() else "not stated"
        self.revision = revision or of_folder
        self.batch = 16 if self._backbone.many else 1
        self.engine_version = version("umm") or "not stated"
        for name, default in self._backbone.needs.items():
            path = str(self._cfg.get(name, ""))
            is_there = Path(path).expanduser().is_dir() or not name.endswith("_root")
            if not (is_there if path else _has(backbone, default)):
                what = f"no folder {path}" if path else f"no {name}, and nothing at its default {default!r}"
                mend = f"name it: cfg={name}:FOLDER; docs/models of TorchUMM says what to fetch"
                raise self._wrong(what, "all that the backbone loads", mend, "MODEL_UNKNOWN")

    def answering(self) -> TorchUmm:
        """The backbone itself. RunError MODEL_UNKNOWN if it only makes images."""
        if self._backbone.answers == "none":
            mend = "name another model with --model; it can have this one beside it, with --images"
            raise self._wrong("a backbone that answers nothing", "one that understands", mend, "MODEL_UNKNOWN")
        return self

    def settings(self) -> dict[str, Setting]:
        """Configuration and fields of a request; of a path its last part."""
        params = Fields({**self._backbone.asked, **self._params})
        settings = {**self._cfg.flat("cfg"), **params.flat("params"), "seeded": self._seed}
        return {name: Path(value).name if isinstance(value, str) else value for name, value in settings.items()}

    @property
    def pipeline(self) -> Any:
        """TorchUMM's pipeline, one for both directions. RunError MODEL_UNKNOWN if it cannot be opened."""
        return _opened(self.name, json.dumps(self._cfg, sort_keys=True))

    def open(self) -> None:
        """Load the backbone. RunError MODEL_UNKNOWN if it cannot be opened."""
        self.pipeline  # noqa: B018 - loaded once

    def make(self, prompts: Sequence[ImagePrompt]) -> list[GeneratedImage]:
        """An image for each prompt, by a request for each `batch`."""
        make, step = super().make, self.batch
        return [made for start in range(0, len(prompts), step) for made in make(prompts[start : start + step])]

    def images(self, prompts: Sequence[ImagePrompt]) -> Sequence[Any]:
        """The images of one request: of one prompt, or of all where the backbone takes a list."""
        many, first = self._backbone.many, prompts[0]
        text = [prompt.text for prompt in prompts] if many else first.text
        with TemporaryDirectory() as folder:
            file = Path(folder) / "image.png"
            seed, asked = (None, {"output_dir": folder}) if many else (first.seed, self._backbone.asked)
            response = self._run("generation", text, seed, asked, output_path=None if many else str(file))
            listed = [response.get("image"), *(response.get("images") or ())]
            shown = [each for each in listed if isinstance(each, Image)][:1]
            files = response.get("saved_paths") or listed[1:] if many else [file] * file.is_file()
            given: Sequence[Image | bytes] = shown or [Path(each).read_bytes() for each in files]
        if len(given) != len(prompts):
            return [failed(f"{len(given)} images of {len(prompts)}: {_error(response)}") for _ in prompts]
        return given

    def answer(
        self,
        prompt: str,
        images: Sequence[Image],
        temperature: float | None = None,
        top_p: float | None = None,
        max_tokens: int | None = None,
        seed: int | None = None,
    ) -> str:
        """The answer to a prompt with at most one image.

        RunError MODEL_OUTPUT for settings that are not heeded, and without a picture where the backbone needs one.
        """
        if not images and self._backbone.answers == "picture":
            what, expected = "a question without a picture", f"pictures: {self.name} answers nothing else"
            raise self._wrong(what, expected, "leave such tasks out (--tasks), or name another model")
        if len(images) > 1 or temperature or top_p is not None:
            what = f"{len(images)} images, temperature {temperature}, top_p {top_p}"
            expected = "one image, and temperature 0 or the backbone's own: few backbones heed another"
            raise self._wrong(what, expected, "leave it out, or name the backbone's own fields (params)")
        asked = {} if max_tokens is None else {self._backbone.length: max_tokens}
        asked |= {} if temperature is None else {"do_sample": False}
        with TemporaryDirectory() as folder:
            files = [str(Path(folder) / f"{place}.png") for place in range(len(images))]
            for image, file in zip(images, files, strict=True):
                image.save(file)
            response = self._run("understanding", prompt, seed, asked, images=files)
        response = next(iter(response.get("understandings") or ()), response)  # OmniGen2's
        text = response.get("text", response.get("response"))
        if not isinstance(text, str) or not text.strip():  # adapters say "" where their model has failed
            raise ValueError(f"no text: {_error(response)}")
        return text

    def _run(self, task: str, prompt: str | list[str], seed: int | None, asked: Given, **more: Any) -> dict[str, Any]:
        params = {**asked, **self._params}
        if seed is not None:
            random.seed(seed)
            np.random.seed(seed % 2**32)
            torch.manual_seed(seed)
            params |= {self._seed: seed} if self._seed not in ("torch", "no") else {}
        request = import_module("umm.inference.multimodal_inputs").InferenceRequest
        return dict(self.pipeline.run(request(backbone=self.name, task=task, prompt=prompt, params=params, **more)))

    def _wrong(self, what: str, expected: str, mend: str, code: str = "MODEL_OUTPUT") -> RunError:
        return RunError(code, f"torchumm:{self.name}", what, expected, mend)


def _has(backbone: str, default: str) -> bool:
    """Whether TorchUMM's repository has the default, there or beside the adapter; without TorchUMM, whether it may."""
    package = find_spec("umm")
    if package is None or not default:
        return bool(default)
    place = Path(str(package.origin)).parent
    beside = place / "backbones" / backbone.rstrip("2") / Path(default).name
    return beside.exists() or (place.parents[1] / default).exists()


def _error(response: Given) -> str:
    return f"{response.get('error')} {str(response.get('stderr'))[-200:]}"


@lru_cache(1)
def _opened(backbone: str, cfg: str) -> Any:
    try:
        return import_module("umm.inference.pipeline").InferencePipeline(backbone, json.loads(cfg))
    except Exception as error:
        what = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        mend = "run in the backbone's environment, with TorchUMM's folder `src` in PYTHONPATH; mend `cfg`"
        where, expected = f"torchumm:{backbone}", "a backbone that TorchUMM can open"
        raise RunError("MODEL_UNKNOWN", where, what, expected, mend) from error
