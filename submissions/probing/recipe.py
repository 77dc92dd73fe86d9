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
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairspace.submissions.errors import did_you_mean
from fairspace.submissions.probing.recipe_data import check_arguments, check_data, load, refuse, safe

FOLDER = Path(__file__).with_name("recipes")
LIBRARIES = ("transformers", "diffusers")
STAGES = {
    "vision": "the vision encoder's output, just before the language model (D.3.1)",
    "words": "the static embedding of a term (D.3.2)",
    "intent": "what the language model sends to the image decoder (D.3.3, E.1)",
    "before": "that, before the projection between the two (D.3.4)",
    "after": "that, after the projection (D.3.4)",
    "step": "the latent of a generation step (D.3.5)",
}
POOLS = {
    "mean": "mean over the positions of (batch, positions, dimensions)",
    "last": "the last position of (batch, positions, dimensions)",
    "first": "the first position of (batch, positions, dimensions)",
    "map": "mean over height and width of (batch, channels, height, width)",
    "flat": "mean over the rows of (positions, dimensions); only with a batch of 1",
    "vector": "(batch, dimensions) as it is",
}
SIDES = ("output", "input")
ROWS = ("all", "first_half", "second_half")
"""Which rows of the batch are the prompt's, where guidance doubles it with unconditional ones."""
_HEAD = {"name", "about", "opens", "architectures", "image", "words", "generate", "stages"}


@dataclass(frozen=True)
class Stage:
    """Where a vector is taken.

    Args:
        module: name of the module, as `named_modules` has it.
        side: `output`, or `input`: its first tensor.
        take: field of an output that has several, or its place; '' for `last_hidden_state` or the first tensor.
        pool: of `POOLS`.
        rows: of `ROWS`.
    """

    module: str
    side: str = "output"
    take: str = ""
    pool: str = "mean"
    rows: str = "all"


@dataclass(frozen=True)
class Call:
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
    gives: str = "tokens"
    inputs: Mapping[str, str] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    prefix: str = ""
    suffix: str = ""
    special: bool = True
    processor: str = ""
    batch: int = 8


@dataclass(frozen=True)
class Recipe:
    """A recipe as it was read; `hash` is of its content."""

    name: str
    hash: str
    opens: str = "transformers"
    architectures: tuple[str, ...] = ()
    about: str = ""
    image: Call | None = None
    words: Call | None = None
    generate: Call | None = None
    stages: Mapping[str, Stage] = field(default_factory=dict)


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
    head = _table(data, where, _HEAD)
    calls = {name: _call(head[name], f"{where}: {name}") for name in ("image", "words", "generate") if name in head}
    stages = {
        name: _stage(stage, f"{where}: stages.{name}")
        for name, stage in _table(head.get("stages"), f"{where}: stages", STAGES).items()
    }
    needs = {"vision": "image", "words": "words"}
    for name in stages:
        if needs.get(name, "generate") not in calls:
            refuse(f"{where}: stages.{name}", "no call during which it is taken", f"[{needs.get(name, 'generate')}]")
    if ("before" in stages) != ("after" in stages):
        refuse(f"{where}: stages", "one side of the projection", "both before and after, or neither")
    if not stages:
        refuse(f"{where}: stages", "none", f"one or more of {', '.join(STAGES)}")
    architectures = head.get("architectures", [])
    if not isinstance(architectures, list) or not all(isinstance(name, str) for name in architectures):
        refuse(f"{where}: architectures", repr(architectures), "a list of class names")
    if "image" in calls and not calls["image"].inputs:
        refuse(f"{where}: image.inputs", "none", "argument of the call = what the image processor makes")
    return Recipe(
        name=_text(head.get("name"), f"{where}: name"),
        opens=_one_of(head.get("opens", "transformers"), LIBRARIES, f"{where}: opens"),
        architectures=tuple(architectures),
        about=_text(head.get("about", ""), f"{where}: about", empty=True),
        stages=stages,
        hash=f"sha256:{_digest(data)}",  # last: what is refused above cannot be hashed
        **calls,
    )


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _stage(data: Any, where: str) -> Stage:
    table = _table(data, where, Stage.__dataclass_fields__)
    return Stage(
        module=_text(table.get("module"), f"{where}.module"),
        side=_one_of(table.get("side", "output"), SIDES, f"{where}.side"),
        take=_text(table.get("take", ""), f"{where}.take", empty=True),
        pool=_one_of(table.get("pool", "mean"), POOLS, f"{where}.pool"),
        rows=_one_of(table.get("rows", "all"), ROWS, f"{where}.rows"),
    )


def _call(data: Any, where: str) -> Call:
    table = _table(data, where, Call.__dataclass_fields__)
    texts = {
        name: _text(table.get(name, ""), f"{where}.{name}", empty=True)
        for name in ("call", "prefix", "suffix", "processor")
    }
    plain: dict[str, dict[str, Any]] = {}
    for name in ("inputs", "arguments"):
        plain[name] = _table(table.get(name, {}), f"{where}.{name}", None)
    for key, value in plain["inputs"].items():
        _text(value, f"{where}.inputs.{safe(key)}")
    check_arguments(plain["arguments"], f"{where}.arguments")
    batch, special = table.get("batch", 8), table.get("special", True)
    if isinstance(batch, bool) or not isinstance(batch, int) or not 1 <= batch <= 1024:
        refuse(f"{where}.batch", repr(batch)[:60], "a whole number from 1 to 1024")
    if not isinstance(special, bool):
        refuse(f"{where}.special", repr(special)[:60], "true or false")
    gives = _one_of(table.get("gives", "tokens"), ("tokens", "prompt"), f"{where}.gives")
    return Call(
        call=texts["call"],
        gives=gives,
        inputs=plain["inputs"],
        arguments=plain["arguments"],
        prefix=texts["prefix"],
        suffix=texts["suffix"],
        special=special,
        processor=texts["processor"],
        batch=batch,
    )


def _table(data: Any, where: str, known: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        refuse(where, "nothing" if data is None else repr(data)[:60], "a table")
    if known is not None and (unknown := [key for key in data if key not in known]):
        refuse(where, f"the key {unknown[0]!r}{did_you_mean(unknown[0], known)}", ", ".join(sorted(known)))
    table: dict[str, Any] = data
    return table


def _text(value: Any, where: str, *, empty: bool = False) -> str:
    if not isinstance(value, str) or not (value or empty):
        refuse(where, "nothing" if value is None else repr(value)[:60], "a text")
    return str(value)


def _one_of(value: Any, known: Any, where: str) -> str:
    if not isinstance(value, str) or value not in known:
        refuse(where, f"{value!r}{did_you_mean(str(value), known)}"[:120], f"one of {', '.join(known)}")
    return str(value)
