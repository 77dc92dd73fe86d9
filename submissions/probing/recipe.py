"""Which modules of a model are what: a TOML or JSON file that a user can write, strictly read.

name = "janus"
opens = "transformers"                       # or "diffusers": a pipeline
architectures = ["JanusForConditionalGeneration"]

[image]                                      # how an image is shown; left out: no RSA
call = "model.get_image_features"
inputs = {pixel_values = "pixel_values"}     # argument of the call -> what the image processor makes
[words]                                      # how a bare term is embedded; left out: no M-IAT
call = "model.language_model.embed_tokens"
[generate]                                   # how an image is asked for
call = "generate"
[stages.vision]                              # vision, words, intent, before, after, step
module = "model.aligner"
pool = "mean"
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fairspace.submissions.errors import did_you_mean
from fairspace.submissions.probing.recipe_data import check_arguments, check_data, load, refuse, safe

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


class Stage(_Strict):
    """Where a vector is taken.

    Args:
        module: name of the module, as `named_modules` has it.
        side: `output`, or `input`: its first tensor.
        take: field of an output that has several, or its place; '' for `last_hidden_state` or the first tensor.
        pool: `mean`, `last` or `first` position of (batch, positions, dimensions); `map`: mean over height and width of
            (batch, channels, height, width); `flat`: mean over the rows of (positions, dimensions), with a batch of 1;
            `vector`: (batch, dimensions) as it is.
        rows: rows of the batch that are the prompt's, where guidance doubles it with unconditional ones.
    """

    module: _Text
    side: Literal["output", "input"] = "output"
    take: str = ""
    pool: Literal["mean", "last", "first", "map", "flat", "vector"] = "mean"
    rows: Literal["all", "first_half", "second_half"] = "all"


class Call(_Strict):
    """How the model is called.

    Args:
        call: a module, or one of the methods of `extraction.METHODS` of one; '' for the model or pipeline itself.
        gives: `tokens`, or `prompt` for a pipeline that takes texts.
        inputs: of images, argument -> what the image processor makes.
        arguments: further arguments; a recipe that is read has none but `recipe_data.ARGUMENTS`.
        prefix: before each text.
        suffix: after each text.
        special: whether the tokenizer adds its own marks.
        processor: class of transformers that makes images ready, where the model's folder has none.
        batch: stimuli at a time.
    """

    call: str = ""
    gives: Literal["tokens", "prompt"] = "tokens"
    inputs: dict[str, _Text] = {}
    arguments: dict[str, Any] = {}
    prefix: str = ""
    suffix: str = ""
    special: bool = True
    processor: str = ""
    batch: int = Field(default=8, ge=1, le=1024)


class Recipe(_Strict):
    """A recipe as it was read; `hash` is of its content."""

    name: _Text
    opens: Literal["transformers", "diffusers"] = "transformers"
    architectures: list[str] = []
    about: str = ""
    image: Call | None = None
    words: Call | None = None
    generate: Call | None = None
    stages: dict[Literal["vision", "words", "intent", "before", "after", "step"], Stage] = {}
    hash: str = ""


def names() -> list[str]:
    """The recipes that come with this software."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read_recipe(what: str) -> Recipe:
    """The recipe in a file, or one of `names()`. RunError RECIPE_INVALID says where and what was expected."""
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
        table = Recipe if len(place) == 1 else Stage if place[0] == "stages" else Call
        known = sorted(table.model_fields.keys() - {"hash"})
        problem, expected = f"the key {place[-1]!r}{did_you_mean(place.pop(), known)}", ", ".join(known)
    elif kind == "literal_error":
        known = re.findall(r"'(.+?)'", first["ctx"]["expected"])
        problem, expected = problem + did_you_mean(str(first["input"]), known), f"one of {', '.join(known)}"
    elif kind in ("missing", "string_too_short"):
        problem, expected = "nothing", "a text"
    elif kind == "model_type":
        expected = "a table"
    refuse(": ".join([where, *([safe(".".join(place))] if place else [])]), problem, expected)
