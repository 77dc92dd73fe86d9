"""Roles of a model's modules: a TOML or JSON file that a user can write, strictly read.

name = "janus"
opens = "transformers"                       # or "diffusers": a pipeline
architectures = ["JanusForConditionalGeneration"]

[image]                                      # how an image is shown; left out: no RSA
call = "model.get_image_features"
inputs = {pixel_values = "pixel_values"}     # argument of the call -> output of the image processor
[words]                                      # how a bare term is embedded; left out: no M-IAT
call = "model.language_model.embed_tokens"
[generate]                                   # how an image is asked for
call = "generate"
[stages.vision]                              # vision, words, intent, before, after, step
module = "model.aligner"
pool = "mean"

A recipe may be a stranger's, so it must not choose code: of a call's arguments it has those in `ARGUMENTS` alone
(`generate` of transformers runs the code named by its argument `custom_generate`).
"""

import hashlib
import json
import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fairspace.submissions.errors import RunError, did_you_mean
from fairspace.submissions.format.faults import show
from fairspace.submissions.reading.tables import check_values, decode, parse

MOST = 8 << 10
"""Bytes of a recipe's file; ours are below 2 KiB."""
DEPTH = 8
_WHOLE: tuple[type, ...] = (int,)
_NUMBER: tuple[type, ...] = (int, float)
_KINDS: Mapping[tuple[type, ...], str] = {
    _WHOLE: "a whole number",
    _NUMBER: "a number",
    (bool,): "true or false",
    (str,): "a text",
}
ARGUMENTS: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("max_new_tokens", "min_new_tokens", "num_beams", "top_k"), _WHOLE),
    **dict.fromkeys(("num_inference_steps", "height", "width", "max_sequence_length"), _WHOLE),
    **dict.fromkeys(("guidance_scale", "true_cfg_scale", "temperature", "top_p", "repetition_penalty"), _NUMBER),
    **dict.fromkeys(("do_sample", "use_cache", "return_dict", "interpolate_pos_encoding"), (bool,)),
    **dict.fromkeys(("generation_mode", "output_type", "negative_prompt"), (str,)),
}
"""Arguments of a call -> their types; none of them names code, a file or a repository."""


def refuse(where: str, problem: str, expected: str) -> NoReturn:
    """RunError RECIPE_INVALID."""
    raise RunError("RECIPE_INVALID", where, problem, expected, "mend the recipe; submissions/RUNNING.md describes it")


def load(what: str, expected: str) -> Any:
    """The data in a .toml or .json file `what` of at most `MOST` bytes; `expected` is for errors.

    RunError RECIPE_INVALID: there is no plain file, it is too large, or it is not what its suffix says.
    """
    try:
        path = Path(what).expanduser()
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError(0, "no plain file")
        with path.open("rb") as stream:
            data = stream.read(MOST + 1)
    except (OSError, ValueError, RuntimeError) as error:  # a path with NUL is a ValueError, ~nobody a RuntimeError
        message = error.strerror if isinstance(error, OSError) else str(error)
        raise RunError("RECIPE_INVALID", safe(what), f"{message}", expected, "name another") from error
    where = safe(path.name)
    if len(data) > MOST:
        refuse(where, f"more than {MOST:,} bytes", f"at most {MOST:,}")
    try:
        text = decode(data)
        return parse(text, DEPTH) if path.suffix == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        message = str(error)[:200]
        raise RunError("RECIPE_INVALID", where, message, "TOML, or JSON in a .json file", "mend it") from error


def check_data(data: Any, where: str) -> None:
    """Refuse nesting beyond `DEPTH`, numbers that are not finite or beyond 64 bits, NUL and half surrogates."""
    try:
        _check_depth(data, DEPTH)
        check_values(data)
    except ValueError as error:
        refuse(where, str(error)[:200], "plain texts and finite numbers")


def check_arguments(arguments: Mapping[str, Any], where: str) -> None:
    """Refuse arguments that are not in `ARGUMENTS`, or of another type."""
    for name, value in arguments.items():
        if name not in ARGUMENTS:
            problem = f"the argument {show(name)}{did_you_mean(name[:64], ARGUMENTS)}"
            refuse(where, problem, f"one of {', '.join(sorted(ARGUMENTS))}")
        if type(value) not in ARGUMENTS[name]:
            refuse(f"{where}.{name}", repr(value)[:60], _KINDS[ARGUMENTS[name]])


def _check_depth(data: Any, left: int) -> None:
    if isinstance(data, dict | list):
        if not left:
            raise ValueError(f"nested more than {DEPTH} deep")
        for inner in data.values() if isinstance(data, dict) else data:
            _check_depth(inner, left - 1)


def safe(text: str) -> str:
    """The text, quoted and escaped if it cannot be printed."""
    return text if text.isprintable() else show(text)


FOLDER = Path(__file__).with_name("recipes")
STAGES = {
    "vision": "the vision encoder's output, just before the language model (D.3.1)",
    "words": "the static embedding of a term (D.3.2)",
    "intent": "what the language model sends to the image decoder (D.3.3, E.1)",
    "before": "that, before the projection between the two (D.3.4)",
    "after": "that, after the projection (D.3.4)",
    "step": "the latent of a generation step (D.3.5)",
}
_Text = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class ProbeStage(_Strict):
    """Place of a vector.

    Args:
        module: name in `named_modules`.
        side: `output`, or `input`: its first tensor.
        take: field of an output or name of an input, or its place; '' for `last_hidden_state` or the first tensor.
        pool: `mean`, `last` or `first` position of (batch, positions, dimensions); `map`: mean over height and width of
            (batch, channels, height, width); `flat`: mean over the rows of (positions, dimensions), with a batch of 1;
            `vector`: (batch, dimensions) unchanged.
        rows: the prompt's rows of the batch, if guidance doubles it with unconditional ones.
    """

    module: _Text
    side: Literal["output", "input"] = "output"
    take: str = ""
    pool: Literal["mean", "last", "first", "map", "flat", "vector"] = "mean"
    rows: Literal["all", "first_half", "second_half"] = "all"


class ModelCall(_Strict):
    """A call of the model.

    Args:
        call: a module, or one of its methods in `extraction.METHODS`; '' for the model or pipeline itself.
        gives: `tokens`, or the argument that takes texts: `prompt`, beside a generator, or `inputs`.
        inputs: argument -> output of the image processor, for images.
        arguments: further arguments; those of a file are in `ARGUMENTS`.
        special: whether the tokenizer adds its own marks.
        processor: preprocessing class of transformers for images, if the model's folder has none.
    """

    call: str = ""
    gives: Literal["tokens", "prompt", "inputs"] = "tokens"
    inputs: dict[str, _Text] = {}
    arguments: dict[str, Any] = {}
    prefix: str = ""
    suffix: str = ""
    special: bool = True
    processor: str = ""
    batch: int = Field(default=8, ge=1, le=1024)


class Recipe(_Strict):
    """A recipe; `hash` is of its content."""

    name: _Text
    opens: Literal["transformers", "diffusers"] = "transformers"
    architectures: list[str] = []
    about: str = ""
    image: ModelCall | None = None
    words: ModelCall | None = None
    generate: ModelCall | None = None
    stages: dict[Literal["vision", "words", "intent", "before", "after", "step"], ProbeStage] = {}
    hash: str = ""


def names() -> list[str]:
    """The recipes that come with this software."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read_recipe(what: str) -> Recipe:
    """The recipe in a file, or one of `names()`. RunError RECIPE_INVALID."""
    expected = f"a .toml or .json file, or one of {', '.join(names())}{did_you_mean(what[:64], names())}"
    path = FOLDER / f"{what}.toml" if what in names() else Path(what)
    return make_recipe(load(str(path), expected), path.name)


def make_recipe(data: Any, where: str) -> Recipe:
    """The recipe of parsed data; `where` is for errors. RunError RECIPE_INVALID."""
    check_data(data, where)
    try:
        recipe = Recipe.model_validate(data)
    except ValidationError as error:
        _refuse(error, where)
    if recipe.hash:
        refuse(f"{where}: hash", "a hash", "none: it follows from the content")
    calls = {name: call for name in ("image", "words", "generate") if (call := getattr(recipe, name)) is not None}
    for name, call in calls.items():
        check_arguments(call.arguments, f"{where}: {name}.arguments")
    for name in recipe.stages:
        needed = {"vision": "image", "words": "words"}.get(name, "generate")
        if needed not in calls:
            refuse(f"{where}: stages.{name}", "no call during which it is taken", f"[{needed}]")
    if ("before" in recipe.stages) != ("after" in recipe.stages):
        refuse(f"{where}: stages", "one side of the projection", "both before and after, or neither")
    if not recipe.stages:
        refuse(f"{where}: stages", "none", f"one or more of {', '.join(STAGES)}")
    if recipe.image is not None and not recipe.image.inputs:
        refuse(f"{where}: image.inputs", "none", "argument of the call = what the image processor makes")
    content = json.dumps(data, sort_keys=True, ensure_ascii=False)
    return recipe.model_copy(update={"hash": f"sha256:{hashlib.sha256(content.encode()).hexdigest()}"})


def _refuse(error: ValidationError, where: str) -> NoReturn:
    """RunError RECIPE_INVALID for the first field that does not fit."""
    (first, *_) = error.errors()
    kind, place = first["type"], [str(part) for part in first["loc"] if part != "[key]"]
    problem, expected = repr(first["input"])[:60], first["msg"].removeprefix("Input should be ")
    if kind == "extra_forbidden":
        table = Recipe if len(place) == 1 else ProbeStage if place[0] == "stages" else ModelCall
        fields = sorted(table.model_fields.keys() - {"hash"})
        problem, expected = f"the key {place[-1]!r}{did_you_mean(place.pop(), fields)}", ", ".join(fields)
    elif kind == "literal_error":
        fields = re.findall(r"'(.+?)'", first["ctx"]["expected"])
        problem, expected = problem + did_you_mean(str(first["input"]), fields), f"one of {', '.join(fields)}"
    elif kind in ("missing", "string_too_short"):
        problem, expected = "nothing", "a text"
    elif kind == "model_type":
        expected = "a table"
    refuse(": ".join([where, *([safe(".".join(place))] if place else [])]), problem, expected)
