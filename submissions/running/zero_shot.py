"""Labellers that nobody trained to label: CLIP, and vision-language models, for `run`, `score` and `ares`.

    clip[:ID[@REVISION]]    nearest text prototypes; settings `margin`, `batch`, `attributes`
    vlm:PROVIDER/MODEL      a model that answers, as Inspect names it; settings `tokens`, `concurrency`, `attributes`
    fairface:FILE.csv, deepface:FILE.json    a detector's own output (`detections`); settings `version`, `race`

`attributes` is `gender,age,skin_tone` unless other ones are named (`?attributes=gender,race`). Each has a name of its
own, and so rows of its own, and an error that `fairspace ares evaluate --labels` measures. An image that shows nobody,
or whose answer cannot be used, has no label; nothing is guessed.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping, Sequence
from itertools import product
from threading import Thread
from typing import TYPE_CHECKING, Any
from weakref import finalize

from fairspace.ares.annotating.labellers import ARES, PACKAGES, Opened, Package, SeenFace
from fairspace.ares.asking_ares import Asking, Reply, question
from fairspace.builders.iris.groups import AGES, GENDERS, SKIN_TONES
from fairspace.builders.models.clip import CLIP, Clip
from fairspace.builders.models.labelling import MARGIN, PROTOTYPES, TEMPLATES, ClipLabeller
from fairspace.builders.models.opening import Scheme, Types, open_face_parts, read, wrong
from fairspace.submissions.running.asking.accepting import fault_of
from fairspace.submissions.running.asking.asking import reason_of
from fairspace.submissions.running.detections import read_detections
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.folders import public_name

if TYPE_CHECKING:
    from inspect_ai.model import ModelAPI
    from PIL.Image import Image

    from fairspace.submissions.running.asking.models import ModelSettings

VOCABULARY = {"gender": GENDERS, "age": AGES, "skin_tone": SKIN_TONES, "race": tuple(PROTOTYPES["race"])}
"""Attribute -> labels that a general model can give."""
USUAL = "gender,age,skin_tone"
"""Attributes unless others are named: those of IRIS."""
NONE = "none"
OPEN = f"Write {NONE} for a key that the image leaves open, and for every key if it shows no person."
TOKENS, CONCURRENCY, BATCH, SIDE = 256, 16, 16, 768
"""Tokens of the longest answer, questions at a time, images of a pass of CLIP, and longest side of a sent image."""


def open_labeller(named: str) -> tuple[str | Package, str]:
    """Labeller and model, arguments of `annotate`: a package, a general model and '', or ARES with its folder or ID.

    Errors: BuildError TOOL_MISSING for a name that cannot be read; RunError MODEL_UNKNOWN.
    """
    if named in PACKAGES:
        return named, ""
    scheme = named.partition("?")[0].partition(":")[0]
    if scheme in SCHEMES:
        opener, what, chosen = read("labeller", named, SCHEMES)
        return opener.open(what, chosen, None), ""
    return ARES, named.removeprefix("ares:")


def face_detector(named: str) -> Any:
    """The face detector that SCHEME:WHAT names, the settings of that in FOLDER or ID@REVISION; None for ''."""
    if ":" in named:
        return open_face_parts(named)
    source, _, revision = named.partition("@")
    return {"source": source, **({"revision": revision} if revision else {})} if named else None


def _attributes(named: str, chosen: str) -> tuple[str, ...]:
    attributes = tuple(chosen.split(","))
    if not set(attributes) <= set(VOCABULARY) or len(set(attributes)) < len(attributes):
        raise wrong("labeller", named, f"attributes={chosen}", f"some of {', '.join(VOCABULARY)}, with commas")
    return attributes


def _settings(**settings: Any) -> str:
    """The settings that are not the usual ones, as a name ends with them."""
    usual = {"margin": MARGIN, "tokens": TOKENS, "attributes": USUAL}
    given = "&".join(f"{name}={value}" for name, value in settings.items() if value != usual[name])
    return f"?{given}" if given else ""


def _clip(what: str, chosen: Mapping[str, Any], _: Any) -> Opened:
    margin, named = chosen.get("margin", MARGIN), chosen.get("attributes", USUAL)
    attributes = _attributes(f"clip:{what}", named)
    clip = Clip(what, batch=chosen.get("batch", BATCH))
    labeller = ClipLabeller(clip, margin=margin, attributes=attributes)
    identity = clip.name.removeprefix("clip ")

    def label(images: Sequence[Image]) -> list[list[SeenFace]]:
        return [
            [] if reason else [SeenFace((0, 0, *image.size), labels, chances)]
            for image, (reason, labels, chances) in zip(images, labeller.seen(images), strict=True)
        ]

    return Opened(
        name=f"clip:{identity.partition('@')[0]}{_settings(margin=margin, attributes=named)}",
        version=identity.partition("@")[2] or identity.partition(" (")[2].rstrip(")"),
        attributes={name: VOCABULARY[name] for name in attributes},
        asked=json.dumps([{name: PROTOTYPES[name] for name in attributes}, TEMPLATES]),
        label=label,
    )


def _vlm(what: str, chosen: Mapping[str, Any], _: Any) -> Opened:
    from fairspace.submissions.running.asking.models import ModelSettings, found_revision

    named, tokens = chosen.get("attributes", USUAL), chosen.get("tokens", TOKENS)
    attributes = _attributes(f"vlm:{what}", named)
    concurrency = chosen.get("concurrency", CONCURRENCY)
    settings = ModelSettings(what, connections=concurrency, temperature=0.0, max_tokens=tokens)
    version, name = found_revision(settings), public_name(what)
    if name != what and "(" not in name:  # a folder's name says little
        name = f"{name} ({version})"
    task = labelling_task(attributes)
    asking = InspectVlm(settings)

    def label(images: Sequence[Image]) -> list[list[SeenFace]]:
        faces = []
        for image, said in zip(images, asking.answer(images, task), strict=True):
            values = dict(zip(attributes, said.split("/"), strict=True)) if said else {}
            labels = {name: "" if values.get(name, NONE) == NONE else values[name] for name in attributes}
            faces.append([] if said and not any(labels.values()) else [SeenFace((0, 0, *image.size), labels)])
        return faces

    return Opened(
        name=f"vlm:{name.partition('@')[0]}{_settings(tokens=tokens, attributes=named)}",
        version=version,
        attributes={name: VOCABULARY[name] for name in attributes},
        asked=question(task) + question(task, again=True) + f"{SIDE}",
        label=label,
    )


def labelling_task(attributes: Sequence[str]) -> dict[str, Any]:
    """The task of ARES' arbiter for these attributes: every combination of their labels, `none` among them."""
    combined = list(product(*((*VOCABULARY[name], NONE) for name in attributes)))
    return {
        "name": "presentation",
        "labels": ["/".join(values) for values in combined],
        "attributes": {name: [values[place] for values in combined] for place, name in enumerate(attributes)},
        "open": OPEN,
    }


class InspectVlm(Asking):
    """A vision-language model of any of Inspect's providers, or of ours (`local/`, `python/`), asked about images.

    Images are sent to it as JPEG. Temporary failures are retried; then RunError MODEL_SILENT stops the work, because
    abstaining from all that failed would change the measurement. RunError MODEL_UNKNOWN if it cannot be opened.
    """

    def __init__(self, settings: ModelSettings) -> None:
        from fairspace.submissions.running.asking.models import open_model

        super().__init__()
        self.settings, self.model = settings, open_model(settings)
        self._runner = asyncio.Runner()  # clients of servers stay with the loop that opened them
        finalize(self, _close, self._runner, self.model.api)

    @property
    def name(self) -> str:
        """The model's public name."""
        return public_name(self.settings.name)

    def _replies(self, images: Sequence[Any], question: str) -> list[Reply]:
        return self._runner.run(self._all(images, question))

    async def _all(self, images: Sequence[Any], question: str) -> list[Reply]:
        return await asyncio.gather(*(self._reply(image, question) for image in images))

    async def _reply(self, image: Any, question: str) -> Reply:
        from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, GenerateConfig

        from fairspace.ares.endpoint_ares import jpeg

        shown = ContentImage(image=f"data:image/jpeg;base64,{base64.b64encode(jpeg(image, SIDE)).decode()}")
        message = ChatMessageUser(content=[shown, ContentText(text=question)])
        config = GenerateConfig(temperature=self.settings.temperature, max_tokens=self.settings.max_tokens)
        mend = "see that it answers and sees images; the same command goes on where it stopped"
        try:
            output = await self.model.generate([message], config=config)
        except RunError:
            raise
        except Exception as error:
            raise RunError("MODEL_SILENT", self.name, reason_of(error), "an answer about an image", mend) from error
        if fault := fault_of(output):
            raise RunError("MODEL_SILENT", self.name, fault, "an answer about an image", mend)
        return Reply(missing="refused") if output.stop_reason == "content_filter" else Reply(output.completion)


def _close(runner: asyncio.Runner, api: ModelAPI) -> None:
    """Closes the model's clients and its loop: in a thread, should the model be collected while another loop runs."""

    def close() -> None:
        with runner:
            runner.run(api.aclose())

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        close()
        return
    closing = Thread(target=close)
    closing.start()
    closing.join()


_DETECTOR: Types = {"version": str, "race": str}
SCHEMES = {
    "clip": Scheme("clip[:ID[@REVISION]]", CLIP, {"margin": float, "batch": int, "attributes": str}, _clip),
    "vlm": Scheme("vlm:PROVIDER/MODEL", "", {"tokens": int, "concurrency": int, "attributes": str}, _vlm),
    "fairface": Scheme("fairface:FILE", "", _DETECTOR, lambda f, more, _: read_detections("fairface", f, **more)),
    "deepface": Scheme("deepface:FILE", "", _DETECTOR, lambda f, more, _: read_detections("deepface", f, **more)),
}
