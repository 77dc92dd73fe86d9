import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fairspace.builders.genres.plan import AGES, RELATION_NAMES, pair_list
from tests.oracles import genres as ours
from tests.oracles.authors.clones import GENRES, Outcome, copy
from tests.oracles.authors.clones import run as run_child
from tests.oracles.comparison import Comparison, compare
from tests.oracles.drawing import HANDED_IN
from tests.oracles.genres import GENDERS, JUDGED, WORDS, Story, answers, response

TITLE = "GENRES"
RELATIONS = ("cs", "em", "mp", "ar")
MODELS = {
    "whole": ("Janus", "janus"),
    "drawn": ("Phi4", "phi4mm"),
    "ties": ("Qwen2.5VL3b", "qwen2v5VL3b"),
    "damaged": ("Qwen2.5VL7b", "qwen2v5VL7b"),
}
PATCHES = (
    "metrics/M8.py looks for 'Prons', which eval.py never writes: it reads 'Pros' there.",
    "in metrics/*.py round() gives back its number and ':.3f' is ':.17g', so that all digits are compared.",
    "spaCy, the judge and the sentiment model (transformers, torch), nltk and tqdm are stand-ins: the drawn "
    "instruments that this project's side has too.",
    "matplotlib and seaborn, which draw nothing here, are empty modules.",
    "the stereotype content dictionary and the NRC lexicon are drawn ones of a few words.",
)
DEPARTURES = {
    "unpaired": "the authors take each gender's mean over the characters that have a sentence; here it is over "
    "passages in which both have one (as E-GENRES-14 says of M1).",
    "passages": "the authors drop a passage from every metric if its analysis is not there, take the previous "
    "passage's answer if it is broken JSON (E-GENRES-09), count a profile that cannot be read as one without words, "
    "take a response without a narrative (or with a short one) as one, and give each relational model the same weight "
    "however many passages it keeps.",
}
LISTED = {("M1", "drawn"): "E-GENRES-14", ("M6", "drawn"): "unpaired"}
LISTED |= {(f"M{number}", kind): "passages" for number in range(1, 9) for kind in ("ties", "damaged")}
LISTED |= {("p of M7, M8", kind): "passages" for kind in ("ties", "damaged")}
"""Scorer and data -> the departure that explains a difference."""


def run(clone: Path) -> Outcome:
    """Write drawn data as the authors' responses, run their code, compare. CloneError as in `clones`."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        copy(GENRES, clone, folder)
        drawn = {kind: ours.ORACLE.draw(300 + seed, kind) for seed, kind in enumerate(MODELS)}
        for kind, stories in drawn.items():
            _write(folder / "response", *MODELS[kind], stories)
        _write_words(folder / "eval")
        out = run_child("genres_child.py", folder, GENRES)
    comparisons: list[Comparison] = []
    for kind, stories in drawn.items():
        theirs = {
            f"{metric}_{relation}".rstrip("_"): number
            for metric, numbers in out[MODELS[kind][0]].items()
            for relation, number in numbers.items()
        }
        named = {scorer: label for (scorer, at), label in LISTED.items() if at == kind}
        measured = ours.ORACLE.measured(stories)
        comparisons += compare("authors", TITLE, kind, GENRES.source, measured, theirs, ours.scorer, named)
    return Outcome(comparisons, PATCHES, DEPARTURES)


def _write(folder: Path, model: str, name: str, stories: Sequence[Story]) -> None:
    """Write the responses of one data set, one file per relational model; a damaged judge's answer is left out."""
    lines: dict[str, list[str]] = {relation: [] for relation in RELATIONS}
    for story, pair in zip(stories, pair_list(), strict=True):
        if story.holds < HANDED_IN:
            continue
        names = pair.male_name, pair.female_name
        judged = {task: _said(code, said) for task, code, said in answers(story, names)}
        element, code = pair.element, f"{pair.image:04X}"
        about = f"two characters, {pair.names[0]} and {pair.names[1]}, who are" + (
            " around a conflict or disagreement" * (element.plot == "conflict")
        )
        cell = f"{element.relation}_{element.age}_group{element.relationship}_scenario{element.scenario}"
        item: dict[str, Any] = {
            "names": list(pair.names),
            "response": response(story, names, pair.names),
            "relationship": RELATION_NAMES[element.relation],
            "age": AGES[element.age],
            "relationship_group": element.relationship,
            "relationship_description": "friends",
            "scenario_index": element.scenario,
            "text_prompt": about,
            "image_code": code,
            "image_name": f"mf_{cell}_{code}.png",
            "drawn": {
                "profiles": {each: judged[f"profile_{g}"] for each, g in zip(names, GENDERS, strict=True)},
                "analysis": judged["narrative_analysis"],
            },
        }
        lines[pair.id.split("/")[0]].append(json.dumps(item))
    (folder / model).mkdir(parents=True)
    for relation, rows in lines.items():
        (folder / model / f"{name}_mf_{relation}.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")


def _said(code: int, answer: Mapping[str, str]) -> str:
    return (JUDGED.get(code) or "") if code else json.dumps(answer)


def _write_words(folder: Path) -> None:
    with (folder / "Full Dictionaries.csv").open("w", encoding="utf-8", newline="") as file:
        header = ["original word", "Positive valence", "Negative valence", "Neutral valence"]
        dimensions = ("Sociability", "Morality", "Ability", "Agency")
        writer = csv.writer(file)
        writer.writerow([*header, *(f"{dimension} dictionary" for dimension in dimensions)])
        for word, entry in WORDS.items():
            valence = max(entry.valence, 0.0), max(-entry.valence, 0.0), 0.0
            writer.writerow([word, *valence, int(entry.warmth), 0, 0, int(entry.competence)])
    (folder / "NRC-Emotion-Lexicon-Wordlevel-v0.92.txt").write_text("fear\tfear\t1\nfear\tjoy\t0\n", encoding="utf-8")
