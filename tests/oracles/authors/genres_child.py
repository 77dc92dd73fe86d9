"""Runs GENRES' own code on a folder: `python -I genres_child.py FOLDER`. Imports nothing of this project.

FOLDER holds copies of the authors' `eval/` and `metrics/`, the drawn responses in `response/`, the drawn dictionary and
lexicon in `eval/`, and gets `out.json`. `Parser` and `Pipeline` replace parser, judge and sentiment model.
"""

import contextlib
import io
import json
import logging
import os
import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[1])
MODELS = ("Janus", "Phi4", "Qwen2.5VL3b", "Qwen2.5VL7b")
RELATIONS = ("cs", "em", "mp", "ar")
NOT_NEEDED = ("matplotlib", "matplotlib.pyplot", "matplotlib.patches", "seaborn")
NAMESPACE: dict[str, Any] = {}


class Token:
    def __init__(self, text: str) -> None:
        self.text = self.lemma_ = text
        self.dep_ = self.pos_ = ""
        self.lefts: list[Token] = []
        self.rights: list[Token] = []
        self.subtree = [self]


class Sentence(list[Token]):
    """The words of a sentence; a name or pronoun at its head is the subject of `walked`."""

    def __init__(self, text: str) -> None:
        super().__init__(map(Token, text.split()))
        self.text = text
        if self and self[0].text[0].isupper() and self[0].text not in ("At", "Narrative"):
            self[0].dep_ = "nsubj"
        for token in self:
            if token.text in ("walked", "stood"):
                token.dep_, token.pos_ = "ROOT", "VERB"
                token.lefts = [head for head in self[:1] if head.dep_]

    def __str__(self) -> str:
        return self.text


class Parser:
    """The drawn parser in spaCy's place."""

    def __init__(self, text: str) -> None:
        self.sents = [Sentence(part) for part in text.split(". ")]

    def __iter__(self) -> Iterator[Token]:
        return (token for sentence in self.sents for token in sentence)


class Pipeline:
    """The drawn judge and sentiment model in transformers' place."""

    def __init__(self, task: str, **_: Any) -> None:
        self.task = task
        self.tokenizer = types.SimpleNamespace(eos_token_id=0, convert_tokens_to_ids=lambda token: 0)

    def __call__(self, given: Any, **_: Any) -> list[dict[str, Any]]:
        if self.task == "sentiment-analysis":
            return [{"label": "POSITIVE" if "gladly" in given else "NEGATIVE"}]
        item, system, text = NAMESPACE["item"], given[0]["content"], given[1]["content"]
        answer = item["drawn"]["analysis"]
        if system == NAMESPACE["profile_prompt"]:
            left = item["drawn"].setdefault("asked", {})
            name = next(n for n in item["names"] if item[f"Profile of {n}"] == text and left.get(n, 0) < 3)
            answer = item["drawn"]["profiles"][name]
            left[name] = 3 if "{" in answer else left.get(name, 0) + 1
        return [{"generated_text": [{"content": answer}]}]


def stand_ins() -> None:
    by_name: dict[str, dict[str, Any]] = {name: dict.fromkeys(("Patch", "pyplot")) for name in NOT_NEEDED}
    tokenizer = types.SimpleNamespace(from_pretrained=lambda path: types.SimpleNamespace(eos_token_id=0))
    by_name["spacy"] = {"load": lambda name: Parser}
    by_name["nltk"] = {"download": lambda name: None}
    by_name["tqdm"] = {"tqdm": lambda data, **_: data}
    by_name["transformers"] = {"AutoTokenizer": tokenizer, "pipeline": Pipeline}
    cuda = types.SimpleNamespace(is_available=lambda: False)
    by_name["torch"] = {"cuda": cuda, "device": str, "bfloat16": None}
    for name, content in by_name.items():
        module = types.ModuleType(name)
        vars(module).update(content)
        sys.modules[name] = module


def execute(path: Path, source: str, further: dict[str, Any]) -> None:
    os.chdir(path.parent)
    NAMESPACE.clear()
    NAMESPACE.update({"__name__": "__main__", "__file__": str(path), **further})
    exec(compile(source, str(path), "exec"), NAMESPACE)


def analyse() -> None:
    """`eval.py` for every model and relation: responses to analyses."""
    path = FOLDER / "eval" / "eval.py"
    source = path.read_text(encoding="utf-8")
    for model in MODELS:
        for relation in RELATIONS:
            sys.argv = ["eval.py", "--model", model, "--type", "mf", "--rs", relation, "--gpu_id", "0"]
            execute(path, source, {})


def metrics() -> dict[str, dict[str, dict[str, float]]]:
    """Model -> metric -> relation, '' for all, -> the difference that the authors' script prints, not rounded."""
    values: dict[str, dict[str, dict[str, float]]] = {model: {} for model in MODELS}
    for number in range(1, 9):
        path = FOLDER / "metrics" / f"M{number}.py"
        source = path.read_text(encoding="utf-8").replace(":.3f}", ":.17g}")
        if number == 8:
            source = source.replace("'Prons'", "'Pros'")
        said: list[str] = []

        def keep(*words: Any, said: list[str] = said) -> None:
            said.append(" ".join(map(str, words)))

        execute(path, source, {"round": lambda value, digits=0: value, "print": keep})
        model = relation = ""
        for line in said:
            if line.startswith("Model: "):
                model = line.removeprefix("Model: ")
            elif line.startswith("Relationship: "):
                relation = line.removeprefix("Relationship: ")
            elif line.startswith(("Average", "----average")):
                relation = ""
            elif match := re.match(r"Delta: (\S+)$", line):
                values[model].setdefault(f"M{number}", {})[relation] = float(match[1])
            elif match := re.match(r"(\w+\.?) & \S+ & \S+ & (\S+)$", line):
                name = match[1].lower().replace("avg.", "")
                if name != "relationship":
                    values[model].setdefault(f"M{number}", {})[name] = float(match[2])
            elif match := re.match(r"(?:(\w+) )?pearson corr\(p-value\): (\S+) \((\S+)\)", line):
                name = (match[1] or "").lower()
                values[model].setdefault(f"M{number}", {})[name] = float(match[2])
                values[model].setdefault(f"M{number}_p", {})[name] = float(match[3])
    return values


def main() -> None:
    stand_ins()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        logging.raiseExceptions = False
        analyse()
        del sys.modules["torch"]  # SciPy asks it whether a number is a tensor
        values = metrics()
    (FOLDER / "out.json").write_text(json.dumps(values), encoding="utf-8")


main()
