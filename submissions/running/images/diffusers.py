"""Images by a text-to-image pipeline of diffusers, on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fairspace.builders.engine.tools import Prompt
from fairspace.builders.errors import BuildError
from fairspace.submissions.errors import need_packages
from fairspace.submissions.format.manifest import version
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.images.made import Made, Setting, checked, failed, refused

if TYPE_CHECKING:
    from fairspace.builders.models.diffusion import DiffusersGenerator


class DiffusersImages:
    """A pipeline; each prompt's seed alone decides its noise.

    Args:
        model: folder or ID[@REVISION].
        named: what it is opened by.
        device: of torch; '' takes a GPU if there is one.
        chosen: fields of `fairspace.builders.models.diffusion.Settings`; those that are left out have its defaults.

    Errors: UsageError without the packages; BuildError TOOL_MISSING without the weights.
    """

    engine = "diffusers"
    concurrency = 1

    def __init__(self, model: str, *, named: str = "", device: str = "", **chosen: Any) -> None:
        need_packages("run", "torch", "diffusers", "transformers")
        from fairspace.builders.models import weights
        from fairspace.builders.models.diffusion import DiffusersGenerator, Settings

        settings = Settings(**chosen)
        for setting in ("steps", "size", "batch"):
            if getattr(settings, setting) < 1:
                problem = f"{setting}={getattr(settings, setting)}"
                raise RunError("MODEL_UNKNOWN", named or model, problem, "1 or more", "name another")
        self.batch = settings.batch
        self.device = weights.best_device(device)
        self._found = weights.find(model, "model_index.json")
        self._generator = DiffusersGenerator(model, settings=settings, device=self.device)
        self._withheld: list[bool] = []

    @property
    def name(self) -> str:
        """The repository's id, or the folder's own name."""
        return self._found.name.rpartition("@")[0] if self._found.revision else self._found.name.partition(" (")[0]

    @property
    def revision(self) -> str:
        """Commit, or hash of the folder."""
        return self._found.revision or self._found.name.partition(" (")[2].rstrip(")")

    @property
    def engine_version(self) -> str:
        """Of diffusers."""
        return version("diffusers")

    def settings(self) -> dict[str, Setting]:
        """All that decides pixels; the precision is the one that the device gives."""
        settings: dict[str, Setting] = asdict(self._generator.settings)
        del settings["handover"]  # there is no refiner
        kind = self.device.partition(":")[0]
        precision = settings["dtype"] or ("float32" if kind == "cpu" else "bfloat16")
        return settings | {"dtype": precision, "device": kind}

    def make(self, prompts: Sequence[Prompt]) -> list[Made]:
        """An image for each prompt; refused is what the pipeline's own safety checker blackens."""
        try:
            generator = self._loaded
            self._withheld.clear()
            images = generator.generate(prompts)
        except BuildError as error:
            raise RunError("MODEL_UNKNOWN", error.where, error.what, error.expected, error.mend) from error
        except Exception as error:  # noqa: BLE001 - whatever breaks in a pipeline is the fate of these prompts
            return [failed(f"{type(error).__name__}: {error}") for _ in prompts]
        withheld = self._withheld or [False] * len(images)
        return [
            refused("the pipeline's safety checker withheld it") if held else checked(image)
            for image, held in zip(images, withheld, strict=True)
        ]

    @cached_property
    def _loaded(self) -> DiffusersGenerator:
        """The generator, with its safety checker watched: it turns images black, which would look like answers."""
        checker = getattr(self._generator._pipeline, "safety_checker", None)
        if checker is not None:
            checker.register_forward_hook(lambda module, given, output: self._withheld.extend(map(bool, output[1])))
        return self._generator
