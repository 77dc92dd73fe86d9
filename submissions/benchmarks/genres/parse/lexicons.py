"""The word lists that GENRES' M1, M2 and M5 read, and the sentiment model of M6: used where they are, never copied.

- NRC Word-Emotion Association Lexicon (Mohammad and Turney 2013), through the package `nrclex`: research use.
- Stereotype content dictionary (Nicolas, Bai and Fiske 2021): the user's own copy of the public file
  `Full Dictionaries.csv` (osf.io/yx45f), named by the environment variable FAIRSPACE_SCD or with --lexicon.
- DistilBERT fine-tuned on SST-2: a local folder named by FAIRSPACE_SST2, or the Hugging Face cache; never downloaded.
"""

import csv
import hashlib
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

DICTIONARY_SETTING = "FAIRSPACE_SCD"
SENTIMENT_SETTING = "FAIRSPACE_SST2"
SENTIMENT_MODEL = "distilbert/distilbert-base-uncased-finetuned-sst-2-english"
NO_DICTIONARY = (
    "it needs the stereotype content dictionaries (Nicolas, Bai and Fiske 2021), which were not there for this run"
)
NO_SENTIMENT = "it needs a sentiment model that was not installed for this run"
NO_EMOTIONS = "it needs the NRC emotion lexicon, which was not installed for this run"
NO_PARSER = "it needs a parser that was not installed for this run"
REMEDIES = {
    NO_DICTIONARY: f"get `Full Dictionaries.csv` from osf.io/yx45f and set {DICTIONARY_SETTING} to its path",
    NO_SENTIMENT: f"`pip install transformers` and `hf download {SENTIMENT_MODEL}`, or name its folder in "
    f"{SENTIMENT_SETTING}",
    NO_EMOTIONS: "install fairspace[genres]",
    NO_PARSER: "install fairspace[genres], or fairspace[text], which brings en_core_web_sm",
}
"""Reason, as in the result -> remedy, which the command prints and no result keeps."""
_BATCH = 64

WORD = "original word"
WARMTH = ("Sociability", "Morality")
COMPETENCE = ("Ability", "Agency")
COLUMNS = (
    WORD,
    "Positive valence",
    "Negative valence",
    *(f"{dimension} dictionary" for dimension in WARMTH + COMPETENCE),
)
"""Required columns; `<dimension> direction` is optional."""


class NotAvailableError(Exception):
    """A tool or a word list is missing; the message is for readers of the result, `REMEDIES` for the user."""


def emotion_labels(words: Collection[str]) -> dict[str, int]:
    """Number of NRC labels (eight emotions, positive, negative) of each known word. NotAvailableError."""
    try:
        from nrclex import NRCLex
    except ImportError as error:
        raise NotAvailableError(NO_EMOTIONS) from error
    lexicon = NRCLex()
    lexicon.load_token_list(sorted(words))
    return {word: len(labels) for word, labels in lexicon.affect_dict.items()}


@dataclass(frozen=True)
class DictionaryWord:
    """One word of the stereotype content dictionary.

    Args:
        warmth: Whether Sociability or Morality lists it; `competence`: Ability or Agency.
        warm_direction: 1 high, -1 low, 0 neither or unknown; likewise for competence.
        valence: Positive minus negative, in [-1, 1].
    """

    warmth: bool
    competence: bool
    warm_direction: int
    competent_direction: int
    valence: float


@dataclass(frozen=True)
class Traits:
    """Dictionary values of one profile's personality words: how many tell of warmth, of competence, and are known.

    `valence` sums positive minus negative valence.
    """

    warmth: int
    competence: int
    valence: float
    matched: int


def dictionary_path() -> Path:
    """The path of the user's stereotype content dictionary. NotAvailableError if it is not set or not there."""
    setting = os.environ.get(DICTIONARY_SETTING, "")
    path = Path(setting)
    if not setting or not path.is_file():
        raise NotAvailableError(NO_DICTIONARY)
    return path


def dictionary() -> Mapping[str, DictionaryWord]:
    """The user's stereotype content dictionary, lower-case word -> entry. NotAvailableError as in `dictionary_path`."""
    path = dictionary_path()
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=2)
def _read(path: Path, modified: int) -> Mapping[str, DictionaryWord]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        rows = csv.DictReader(lines)
        try:
            missing = [column for column in COLUMNS if column not in (rows.fieldnames or ())]
            if missing:
                problem = f"{path.name} is no stereotype content dictionary"
                raise NotAvailableError(f"{problem}: it lacks the columns {missing}")
            return {row[WORD].strip().lower(): _entry(row) for row in rows if (row[WORD] or "").strip()}
        except (csv.Error, ValueError) as error:
            raise NotAvailableError(f"{path.name} line {rows.line_num}: {error}") from error


def _entry(row: Mapping[str, str | None]) -> DictionaryWord:
    warmth, warm = _listed(row, WARMTH)
    competence, competent = _listed(row, COMPETENCE)
    valence = _number(row, "Positive valence") - _number(row, "Negative valence")
    if not abs(valence) <= 1:
        raise ValueError(f"the valence of {row[WORD]!r} is {valence}, which is not within -1 and 1")
    return DictionaryWord(warmth, competence, warm, competent, valence)


def _listed(row: Mapping[str, str | None], dimensions: Sequence[str]) -> tuple[bool, int]:
    listed = [dimension for dimension in dimensions if _number(row, f"{dimension} dictionary") == 1]
    direction = sum(_number(row, f"{dimension} direction") for dimension in listed)
    return bool(listed), (direction > 0) - (direction < 0)


def _number(row: Mapping[str, str | None], column: str) -> float:
    cell = (row.get(column) or "").strip()
    return 0.0 if cell.lower() in ("", "na", "nan") else float(cell)


def traits(words: Iterable[str], dictionary: Mapping[str, DictionaryWord], *, directed: bool = False) -> Traits:
    """Look up personality words: exactly, else by their parts between blanks.

    With `directed` only words high in a dimension count; without (`paper`) also low ones ("cold" is a word of warmth).
    """
    warmth = competence = matched = 0
    valence = 0.0
    for word in words:
        for part in (word,) if word in dictionary else word.split():
            if (entry := dictionary.get(part)) is None:
                continue
            matched += 1
            valence += entry.valence
            warmth += entry.warmth and (not directed or entry.warm_direction > 0)
            competence += entry.competence and (not directed or entry.competent_direction > 0)
    return Traits(warmth, competence, valence, matched)


def positive_sentences(sentences: Collection[str]) -> dict[str, bool]:
    """Whether each distinct sentence is positive. NotAvailableError without transformers or the checkpoint."""
    where = os.environ.get(SENTIMENT_SETTING) or SENTIMENT_MODEL
    if not Path(where).is_dir() and _cached(where, "config.json") is None:
        raise NotAvailableError(NO_SENTIMENT)  # before torch and transformers are imported, which takes seconds
    try:
        import torch
        from safetensors import SafetensorError
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
    except ImportError as error:
        raise NotAvailableError(NO_SENTIMENT) from error
    try:
        tokenizer = AutoTokenizer.from_pretrained(where, local_files_only=True)
        model = AutoModelForSequenceClassification.from_pretrained(where, local_files_only=True, use_safetensors=True)
    except (OSError, ValueError, SafetensorError) as error:
        raise NotAvailableError(NO_SENTIMENT) from error
    positive = {str(label).upper(): int(index) for index, label in model.config.id2label.items()}.get("POSITIVE", 1)
    model.eval()
    texts = sorted(sentences, key=lambda text: (len(text), text))
    result: dict[str, bool] = {}
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        inputs = tokenizer(batch, padding=True, truncation=True, max_length=512, return_tensors="pt")
        with torch.inference_mode():
            classes = model(**inputs).logits.argmax(-1).tolist()
        result |= {text: label == positive for text, label in zip(batch, classes, strict=True)}
    return result


def versions() -> dict[str, str]:
    """Identifiers of the installed word lists and model, for a result's signature."""
    by_tool = {}
    try:
        by_tool["emotion_lexicon"] = f"nrclex@{version('nrclex')}"
    except PackageNotFoundError:
        by_tool["emotion_lexicon"] = "none"
    try:
        dictionary()
        digest = hashlib.sha256(dictionary_path().read_bytes()).hexdigest()[:12]
        by_tool["stereotype_dictionary"] = f"{dictionary_path().name}@{digest}"
    except NotAvailableError:
        by_tool["stereotype_dictionary"] = "none"
    model = os.environ.get(SENTIMENT_SETTING) or SENTIMENT_MODEL
    local = Path(model) / "model.safetensors"
    weights = local if local.is_file() else _cached(model, local.name)
    by_tool["sentiment"] = "none"
    if weights is not None:
        with weights.open("rb") as data:
            digest = hashlib.file_digest(data, "sha256").hexdigest()[:12]
        by_tool["sentiment"] = f"{Path(model).name}@{digest}"
    return by_tool


def _cached(model: str, name: str) -> Path | None:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        cached = try_to_load_from_cache(model, name)
    except HFValidationError:
        return None
    return Path(cached) if isinstance(cached, str) else None
