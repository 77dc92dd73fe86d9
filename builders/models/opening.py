"""Opens the tools that a user names: `SCHEME[:WHAT][?SETTING=VALUE&...]`, one per role.

  detector    yolos[:ID[@REVISION]]             YOLOS or another detector of transformers; a folder is an ID too
              onnx:FILE                         an export of YOLOv8, YOLO11 or later
              ultralytics:FILE?sha256=HASH      a checkpoint of the same, by ultralytics (AGPL-3.0)
              boxes:FILE                        persons found before, as Parquet
  generator   diffusers[:ID[@REVISION]]         a text-to-image pipeline; without ID, SDXL
  refiner     diffusers[:ID[@REVISION]]         the pipeline that ends the generator's denoising
  editor      diffusers[:ID[@REVISION]]         an InstructPix2Pix pipeline
  labeller    ares[:ID[@REVISION]]              ARES, trained for it; needs the detector to see several persons
              clip[:ID[@REVISION]]              nearest text prototypes; likewise
  matcher     clip[:ID[@REVISION]]              cosine similarities
  describer   endpoint:URL#MODEL                an OpenAI-compatible endpoint
              file:PATH                         descriptions as JSON lines

Settings are the tool's arguments, such as `diffusers:ID?steps=28&guidance=3.5&size=1024` for SD 3.5; a shell needs
quotes around them. Weights are looked for when a tool is opened, and loaded at first use.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import partial
from typing import Any, get_args, get_type_hints
from urllib.parse import parse_qsl

from fairspace.builders.engine.tools import Tools
from fairspace.builders.errors import BuildError
from fairspace.builders.models.clip import CLIP, Clip, ClipMatcher
from fairspace.builders.models.describing import EndpointDescriber, FileDescriber
from fairspace.builders.models.detection import YOLOS, FaceParts, ImageDetector, StoredBoxes, YolosDetector
from fairspace.builders.models.diffusion import (
    INSTRUCT_PIX2PIX,
    SDXL,
    SDXL_REFINER,
    DiffusersGenerator,
    EditSettings,
    InstructPix2PixEditor,
    PipelineSettings,
)
from fairspace.builders.models.labelling import ARES, AresLabeller, ClipLabeller
from fairspace.builders.models.yolo import OnnxYolo, UltralyticsYolo

Types = Mapping[str, type]


@dataclass(frozen=True)
class Scheme:
    """A way to name a tool.

    `form` is for people, `default` the model or '' if one must be named, `settings` name -> type; `open` takes the part
    behind the scheme, the settings and the shared options.
    """

    form: str
    default: str
    settings: Types
    open: Callable[[str, Mapping[str, Any], Any], Any]


def read(role: str, spec: str, schemes: Mapping[str, Scheme]) -> tuple[Scheme, str, dict[str, Any]]:
    """The scheme, the part behind it, and the settings of a tool's name. BuildError TOOL_MISSING for an invalid one."""
    prefix = spec.partition(":")[0].partition("?")[0]
    forms = " or ".join(scheme.form for scheme in schemes.values())
    if prefix not in schemes:
        close = get_close_matches(prefix, schemes, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise wrong(role, spec, f"no scheme {prefix!r}{hint}", forms)
    scheme = schemes[prefix]
    rest = spec[len(prefix) :].removeprefix(":")
    # The query of an endpoint's address is the endpoint's; settings follow the model.
    before, mark, last = rest.rpartition("#")
    last, _, query = last.partition("?")
    what = f"{before}{mark}{last}" or scheme.default
    if not what:
        raise wrong(role, spec, "nothing behind the scheme", forms)
    settings: dict[str, Any] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in scheme.settings:
            names = ", ".join(scheme.settings) or "none"
            raise wrong(role, spec, f"no setting {name!r}", f"settings of {prefix}: {names}")
        try:
            settings[name] = _value(scheme.settings[name], value)
        except ValueError as error:
            kind = scheme.settings[name]
            raise wrong(role, spec, f"{name}={value}", f"{name} as {getattr(kind, 'form', kind.__name__)}") from error
    return scheme, what, settings


def _value(kind: type, text: str) -> Any:
    if kind is bool:
        if text not in ("true", "false"):
            raise ValueError(text)
        return text == "true"
    return kind(text)


class Fields(dict[str, Any]):
    """Fields of a request, from a JSON object or from NAME:VALUE,NAME:VALUE whose values are JSON, else texts.

    ValueError for anything else, and for more than 1,000 characters, which no manifest holds.
    """

    form = '{"NAME": VALUE} in JSON, or NAME:VALUE,NAME:VALUE'

    def __init__(self, settings: str | Mapping[str, Any] = "") -> None:
        text = settings if isinstance(settings, str) else json.dumps(settings)
        if len(text) > 1000 or not text.isprintable():
            raise ValueError("more than 1,000 characters, or some that cannot be printed")
        if text.startswith("{"):
            super().__init__(json.loads(text, parse_constant=int))  # NaN is no number of JSON
            return
        pairs = [each.partition(":") for each in text.split(",") if each]
        if not all(name.strip() and mark for name, mark, _ in pairs):
            raise ValueError(text)
        super().__init__({name.strip(): _plain(value.strip()) for name, _, value in pairs})

    def flat(self, prefix: str) -> dict[str, str | int | float | bool | None]:
        """The fields for a manifest, as PREFIX.NAME; lists and objects as JSON."""
        scalars = (str, int, float, bool, type(None))
        return {f"{prefix}.{n}": v if isinstance(v, scalars) else json.dumps(v) for n, v in self.items()}


def _plain(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=str)
    except ValueError:
        return text


def wrong(role: str, spec: str, problem: str, expected: str) -> BuildError:
    """The error for a name that cannot be read."""
    return BuildError("TOOL_MISSING", f"--{role} {spec}", problem, expected, "name the tool in one of these forms")


@dataclass
class _Asked:
    """Options shared by all tools, and models that are open already."""

    device: str
    refiner: str
    detector: Any = None
    clips: dict[str, Clip] = field(default_factory=dict)

    def clip(self, model: str) -> Clip:
        if model not in self.clips:
            self.clips[model] = Clip(model, device=self.device)
        return self.clips[model]


def settings_of(kind: type) -> Types:
    """Setting -> type, of a dataclass of settings; of an optional one the type that it has if it is set."""
    hints = get_type_hints(kind)
    return {setting.name: next(iter(get_args(hints[setting.name])), hints[setting.name]) for setting in fields(kind)}


def _generator(what: str, settings: Mapping[str, Any], request: _Asked) -> DiffusersGenerator:
    refiner = ""
    if request.refiner:
        _, refiner, _ = read("refiner", request.refiner, SCHEMES["refiner"])
    return DiffusersGenerator(
        what, refiner=refiner, settings=PipelineSettings(**settings), genres=True, device=request.device
    )


def _editor(what: str, settings: Mapping[str, Any], request: _Asked) -> InstructPix2PixEditor:
    return InstructPix2PixEditor(what, settings=EditSettings(**settings), device=request.device)


def _yolo(kind: type[OnnxYolo | UltralyticsYolo], what: str, settings: Mapping[str, Any], request: _Asked) -> Any:
    return kind(what, device=request.device, **settings)


def _persons(request: _Asked) -> Any:
    """The detector for made images: not stored boxes, which know the source's images alone."""
    return None if isinstance(request.detector, StoredBoxes) else request.detector


def _endpoint(what: str, settings: Mapping[str, Any], request: _Asked) -> EndpointDescriber:
    url, _, model = what.rpartition("#")
    if not url.startswith(("http://", "https://")) or not model:
        raise wrong("describer", f"endpoint:{what}", "no address or no model", "endpoint:URL#MODEL")
    return EndpointDescriber(url, model, **settings)


_FOUND: Types = {"threshold": float, "batch": int}
_YOLO: Types = {"sha256": str, "threshold": float, "overlap": float, "label": str}
_ENDPOINT: Types = {"temperature": float, "timeout": float, "retries": int, "asks": int}

SCHEMES: dict[str, dict[str, Scheme]] = {
    "detector": {
        "yolos": Scheme(
            "yolos[:ID[@REVISION]]",
            YOLOS,
            _FOUND,
            lambda what, settings, request: YolosDetector(what, device=request.device, **settings),
        ),
        "onnx": Scheme("onnx:FILE", "", _YOLO, partial(_yolo, OnnxYolo)),
        "ultralytics": Scheme("ultralytics:FILE?sha256=HASH", "", _YOLO, partial(_yolo, UltralyticsYolo)),
        "boxes": Scheme("boxes:FILE", "", {}, lambda what, settings, request: StoredBoxes(what)),
    },
    "generator": {
        "diffusers": Scheme("diffusers[:ID[@REVISION]]", SDXL, settings_of(PipelineSettings), _generator),
    },
    "refiner": {
        "diffusers": Scheme("diffusers[:ID[@REVISION]]", SDXL_REFINER, {}, lambda what, settings, request: what),
    },
    "editor": {
        "diffusers": Scheme("diffusers[:ID[@REVISION]]", INSTRUCT_PIX2PIX, settings_of(EditSettings), _editor),
    },
    "labeller": {
        "ares": Scheme(
            "ares[:ID[@REVISION]]",
            ARES,
            {"batch": int},
            lambda what, settings, request: AresLabeller(
                what, device=request.device, detector=_persons(request), **settings
            ),
        ),
        "clip": Scheme(
            "clip[:ID[@REVISION]]",
            CLIP,
            {"margin": float},
            lambda what, settings, request: ClipLabeller(request.clip(what), detector=_persons(request), **settings),
        ),
    },
    "matcher": {
        "clip": Scheme(
            "clip[:ID[@REVISION]]", CLIP, {}, lambda what, settings, request: ClipMatcher(request.clip(what))
        ),
    },
    "describer": {
        "endpoint": Scheme("endpoint:URL#MODEL", "", _ENDPOINT, _endpoint),
        "file": Scheme("file:PATH", "", {}, lambda what, settings, request: FileDescriber(what)),
    },
}


def open_tools(*, device: str = "", **specs: str) -> Tools:
    """The tools named by role; '' leaves one out. BuildError TOOL_MISSING for an unknown or absent part of a name."""
    refiner = specs.pop("refiner", "")
    if refiner and not specs.get("generator"):
        raise wrong("refiner", refiner, "no generator", "a generator that the refiner follows")
    request = _Asked(device, refiner)
    request.detector = _open("detector", specs.pop("detector", ""), request)
    return Tools(request.detector, **{role: _open(role, name, request) for role, name in specs.items()})


def open_face_parts(spec: str) -> FaceParts:
    """The parts of images for ARES by a detector named like a build's. BuildError TOOL_MISSING: as `open_tools`."""
    detector = open_tools(detector=spec).detector
    if not isinstance(detector, ImageDetector):
        raise wrong("faces", spec, "stored boxes are of a build's source", "a detector that looks at images")
    return FaceParts(detector)


def _open(role: str, spec: str, request: _Asked) -> Any:
    if not spec:
        return None
    scheme, what, settings = read(role, spec, SCHEMES[role])
    return scheme.open(what, settings, request)
