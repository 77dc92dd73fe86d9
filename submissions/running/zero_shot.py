"""Labellers that nobody trained to label: CLIP, and vision-language models, for `run`, `score` and `ares`.

    clip[:ID[@REVISION]]    nearest text prototypes; settings `margin`, `batch`, `attributes`
    vlm:PROVIDER/MODEL      a model that answers, as Inspect names it; settings `tokens`, `concurrency`, `attributes`
    fairface:FILE.csv       the output of FairFace's predict.py; settings `version`, `race`
    deepface:FILE.json      an object: file -> what DeepFace.analyze gave: one analysis, lists of them, or an error
    uniface:FILE.json       an object: file -> faces of uniface's FairFace, as Face.to_json gives them, with race_scores

`attributes` is `gender,age,skin_tone` unless other ones are named (`?attributes=gender,race`). Each has a name of its
own, and so rows of its own, and an error that `fairspace ares evaluate --labels` measures. An image that shows nobody,
or whose answer cannot be used, has no label; nothing is guessed.

Detectors (FACT-OR-FAIR, 5.1) ran elsewhere. A file in their output is named by the sha256 of the image (`<sha256>.png`;
FairFace makes `<sha256>_face0.png` of it), so that labels never reach another image. Each row is used, missing (null,
or an error in its place) or an error of ours, and a face that stands there twice is one. Images that the output does
not name are missing (FairFace names none without a face); they have no face where DeepFace says so: `[]`, its error
about it, or the confidence 0 of the whole image. Race follows the program of FACT-OR-FAIR's authors: the likeliest of
four groups, past Indian and Middle Eastern (uclanlp/fact-or-fair at 945ec6b, `single_predict.py` and
`sample_deepface.py`). `race=omb` is a variant of ours.
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

from fairspace.ares.annotating.labellers import ARES, PACKAGES, OpenedLabeller, Package, SeenFace
from fairspace.ares.asking_ares import ArbiterAsking, Reply, question
from fairspace.builders.iris.groups import AGES, GENDERS, SKIN_TONES
from fairspace.builders.models.clip import CLIP, Clip
from fairspace.builders.models.labelling import MARGIN, PROTOTYPES, TEMPLATES, ClipLabeller
from fairspace.builders.models.opening import Scheme, Types, open_face_parts, read, wrong
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.asking.accepting import fault_of
from fairspace.submissions.running.asking.asking import reason_of
from fairspace.submissions.running.folders import public_name

if TYPE_CHECKING:
    from inspect_ai.model import ModelAPI
    from PIL.Image import Image

    from fairspace.submissions.running.asking.models import ModelSettings
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath

from fairspace.builders.errors import BuildError
from fairspace.builders.iris_classifier_25.dataset import age_group
from fairspace.builders.sources import table
from fairspace.builders.sources.faces import BUCKETS, FACT_OR_FAIR_RACES, repaired
from fairspace.submissions.format.faults import RefusedError
from fairspace.submissions.reading.tables import parse

FAIRFACE_COLUMNS = ("face_name_align", "race", "gender", "age")
"""Columns of predict.py's output that are required."""
RACES = tuple(dict.fromkeys(FACT_OR_FAIR_RACES.values()))
PASSED_OVER = ("Indian", "Middle Eastern")
LIKELIEST, OMB = "likeliest", "omb"
RULES: Mapping[str, Mapping[str, str]] = {
    LIKELIEST: {word: group for word, group in FACT_OR_FAIR_RACES.items() if word not in PASSED_OVER},
    OMB: FACT_OR_FAIR_RACES,
}
"""Rule of race -> word of FairFace -> group: FACT-OR-FAIR's, and that of U.S. agencies (Indian is Asian, Middle Eastern
White)."""
_SCORES = ("White", "Black", "Latino_Hispanic", "East Asian", "Southeast Asian", "Indian", "Middle Eastern")
"""Order of `race_scores_fair` (dchen236/FairFace at 74b4f93, predict.py), and of uniface's `RACE_LABELS` (4.2.1)."""
_SPELT = {word.replace("_", " "): word for word in _SCORES}
_AGES = {**BUCKETS, "70+": "older"}
_GENDERS = {"female": "female", "male": "male", "woman": "female", "man": "male"}
_WORDS = {"asian": "East Asian", **{word.replace("_", " ").lower(): word for word in _SCORES if " Asian" not in word}}
"""DeepFace's word -> FairFace's."""
_NAME = re.compile(r"([0-9a-f]{64})(_face\d+)?")
_NONE_FOUND = re.compile(r"face could not be detected", re.IGNORECASE)
"""DeepFace's error about an image without a face, in all versions since 0.0.14."""
_LARGEST, _DEPTH = 1_000_000, 16
"""Pixels of a side, and years, are below; nesting of the JSON is at most."""
AGAIN = "hand over the detector's own output, of images that are named by their sha256"
Rows = Iterator[tuple[str, str, SeenFace | None]]
"""sha256, name of the face in the image, and the face; without one `NO_FACE`, `UNSURE` or `MISSING`, and None."""
NO_FACE, UNSURE, MISSING = "without a face", "with face_confidence 0", "null or an error"
_FACELESS = {
    "fairface": AGAIN,
    "uniface": AGAIN,
    "deepface": "run it with a detector; with detector_backend='skip' every face_confidence is 0: where the images are "
    "faces that were cut out before, delete face_confidence",
}
_OBJECT = "an object: file -> analyses"
_INSTANCE = re.compile(r"instance_\d+|results?")
"""Keys around analyses: of a list of images before 0.0.76, and of DeepFace's server."""
_LABELLED = {"gender", "race", "dominant_gender", "dominant_race"}
_ERRORS = ("error", "exception", "message")


def read_detections(layout: str, file: str, version: str = "not stated", race: str = LIKELIEST) -> OpenedLabeller:
    """The output of a detector: `layout` is one of `LAYOUTS`, `race` one of `RULES`.

    BuildError SOURCE_MISSING, SOURCE_LAYOUT, SOURCE_VALUE; SOURCE_DAMAGED for ages that a spreadsheet changed beyond
    repair; TOOL_MISSING for another rule.
    """
    if race not in RULES:
        raise BuildError("TOOL_MISSING", f"{layout}:{file}", f"race={race}", " or ".join(RULES), "choose one of these")
    faces: dict[str, dict[str, SeenFace]] = {}
    entries, missing = Counter[str](), set[str]()
    try:
        for sha256, key, face in LAYOUTS[layout](Path(file), RULES[race]):
            entries[key if face is None else "face"] += 1
            if key == MISSING:
                missing.add(sha256)
                continue
            of_image = faces.setdefault(sha256, {})
            if face is not None and of_image.setdefault(key, face) != face:
                raise _value(Path(file).name, f"{key[:80]!r} again, with other labels", "every face once")
    except (OSError, UnicodeDecodeError) as error:
        raise BuildError("SOURCE_MISSING", file, str(error), "a file in UTF-8", AGAIN) from error
    missing -= set(faces)
    if not entries["face"]:
        counts = ", ".join(f"{number:,} {kind}" for kind, number in entries.items())
        raise BuildError("SOURCE_LAYOUT", file, f"no face: {counts or 'nothing'}", "one at least", _FACELESS[layout])
    empty = sum(not each for each in faces.values())
    return OpenedLabeller(
        name=layout + (f"?race={race}" if race != LIKELIEST else ""),
        version=version,
        attributes={"gender": GENDERS, "age": AGES, "race": RACES},
        asked=json.dumps(dict(RULES[race])),  # not the output, so that one measurement fits all
        label=lambda images: [list(faces[image].values()) if image in faces else None for image in images],
        finds_faces=True,
        by_hash=True,
        told=f"{Path(file).name} has {sum(map(len, faces.values())):,} faces in {len(faces) - empty:,} images, "
        f"{empty:,} images without a face, {len(missing):,} that were not analysed",
    )


def _fairface(file: Path, groups: Mapping[str, str]) -> Rows:
    for line, (face, race, gender, age, scores) in table(file, FAIRFACE_COLUMNS, ("race_scores_fair",)):
        where = f"{file.name}, line {line}"
        word = _label({word: word for word in FACT_OR_FAIR_RACES}, race, where)
        labels = {
            "gender": _label(_GENDERS, gender, where),
            "age": _AGES[age if age in _AGES else repaired(age, where)] if age else "",
            "race": _race(word, scores, groups, where),
        }
        yield _image(face, where), PurePosixPath(face.replace("\\", "/")).stem, SeenFace((0, 0, 0, 0), labels)


def _by_image(path: Path, read: Callable[[Any, str], Iterator[Any]]) -> Iterator[tuple[str, str, list[Any]]]:
    """sha256, place and what `read` gives for each entry of an object of JSON.

    BuildError SOURCE_LAYOUT; SOURCE_VALUE for an image that is analysed again and has other faces then.
    """
    try:
        images = parse(path.read_text(encoding="utf-8-sig"), _DEPTH)
    except RefusedError as error:
        raise BuildError("SOURCE_LAYOUT", path.name, f"no JSON: {error.what}", error.expected, AGAIN) from error
    if not isinstance(images, dict) or any(map(_INSTANCE.fullmatch, images)):
        raise BuildError("SOURCE_LAYOUT", path.name, f"{type(images).__name__} without names of files", _OBJECT, AGAIN)
    analysed: dict[str, list[Any]] = {}
    for file, entry in images.items():
        where = f"{path.name}, {file[:80]}"
        sha256, faces = _image(file, where), list(read(entry, where))
        if MISSING not in faces and analysed.setdefault(sha256, faces) != faces:
            raise _value(where, "an image again, with other faces", "every image once")
        yield sha256, where, faces


def _uniface(path: Path, groups: Mapping[str, str]) -> Rows:
    for sha256, where, faces in _by_image(path, _uniface_faces):
        for face in faces:
            if isinstance(face, str):
                yield sha256, face, None
                continue
            labels = {
                "gender": _label({"0": "female", "1": "male"}, str(face["gender"]), where),
                "age": _label(_AGES, face.get("age_group"), where),
                "race": _race(_label(_SPELT, face["race"], where), face.get("race_scores"), groups, where),
            }
            left, top, right, bottom = (int(_number(side, where) or 0) for side in face.get("bbox") or [0] * 4)
            yield sha256, json.dumps(face, sort_keys=True), SeenFace((left, top, right, bottom), labels)


def _uniface_faces(entry: Any, where: str) -> Iterator[Mapping[str, Any] | str]:
    """The faces in an entry; `NO_FACE` or `MISSING` in place of one."""
    if entry is None or entry == []:
        yield MISSING if entry is None else NO_FACE
        return
    for face in entry if isinstance(entry, list) else [None]:
        what = "a face without gender or race"
        if isinstance(face, dict) and None not in (face.get("gender"), face.get("race")):
            box = face.get("bbox")
            if box is None or (isinstance(box, list) and [type(side) in (int, float) for side in box] == [True] * 4):
                yield face
                continue
            what = f"the bbox {str(box)[:80]}"
        expected = "faces as json.loads(face.to_json()) gives them after FairFace().predict, in a list"
        raise BuildError("SOURCE_LAYOUT", where, what, expected, AGAIN)


def _deepface(path: Path, groups: Mapping[str, str]) -> Rows:
    for sha256, where, analyses in _by_image(path, _analyses):
        for place, each in enumerate(analyses):
            if isinstance(each, str):
                yield sha256, each, None
            elif _number(each.get("face_confidence"), where) == 0:
                yield sha256, UNSURE, None
            else:
                key = json.dumps(each, sort_keys=True) if each.get("region") else str(place)
                yield sha256, key, _analysed(each, groups, where)


def _analyses(data: Any, where: str) -> Iterator[Mapping[str, Any] | str]:
    """The analyses in an entry, in whatever lists and objects it has them; `NO_FACE` or `MISSING` in place of one."""
    if isinstance(data, dict) and set(data) & _LABELLED:
        yield data
    elif isinstance(data, dict) and data and all(map(_INSTANCE.fullmatch, data)):
        yield from _analyses(list(data.values()), where)
    elif isinstance(data, list):
        for each in data:
            yield from _analyses(each, where)
        if not data:
            yield NO_FACE
    elif data is None or isinstance(data, str):
        yield NO_FACE if _NONE_FOUND.search(data or "") else MISSING
    elif isinstance(data, dict) and (errors := [data[name] for name in _ERRORS if name in data]):
        yield from _analyses(str(errors[0]), where)
    else:
        expected = "dominant_gender or dominant_race, as DeepFace.analyze gives them, or an error"
        raise BuildError("SOURCE_LAYOUT", where, "an analysis without labels", expected, AGAIN)


def _analysed(each: Mapping[str, Any], groups: Mapping[str, str], where: str) -> SeenFace:
    region, age = each.get("region"), _number(each.get("age"), where)
    sides = region if isinstance(region, dict) else {}
    x, y, width, height = (int(_number(sides.get(side), where) or 0) for side in "xywh")
    gender = each.get("gender")
    if isinstance(gender, dict):  # text before 0.0.76
        gender = max(((_number(share, where) or 0, word) for word, share in gender.items()), default=(0, None))[1]
    labels = {
        "gender": _label(_GENDERS, each.get("dominant_gender") or gender, where),
        "age": "" if age is None else age_group(int(age)),
        "race": _race(_label(_WORDS, each.get("dominant_race"), where), each.get("race"), groups, where),
    }
    return SeenFace((x, y, x + width, y + height), labels)


def _race(word: str, values: Any, groups: Mapping[str, str], where: str) -> str:
    """The group of FairFace's word; that of the likeliest word with one, by the probabilities, where it has none."""
    if word in groups or not (word or values):
        return groups.get(word, "")
    if isinstance(values, str) and values:  # as numpy prints it
        values = values.strip("[] \n").replace(",", " ").split()
    by_word: Iterable[tuple[Any, Any]] = values.items() if isinstance(values, dict) else ()
    if isinstance(values, list) and len(values) == len(_SCORES):
        by_word = zip(_SCORES, values, strict=True)
    scores: dict[str, float] = {str(_WORDS.get(name, name)): _number(score, where) or 0 for name, score in by_word}
    scores = {name: score for name, score in scores.items() if name in groups}
    if {groups[name] for name in scores} != set(RACES) or not max(scores.values()) > 0:
        expected = f"probabilities of {', '.join(RACES)} (race_scores_fair, race_scores: all 7; of DeepFace race)"
        mend = "keep them in the output, or name the variant ?race=omb, where Indian is Asian, Middle Eastern White"
        raise BuildError("SOURCE_VALUE", where, f"the race {word!r}, with {str(values)[:80]!r}", expected, mend)
    return groups[max(scores, key=scores.__getitem__)]


def _image(file: str, where: str) -> str:
    stem = PurePosixPath(file.replace("\\", "/")).name.split(".")[0]
    match = _NAME.fullmatch(stem)
    if match is None:
        raise _value(where, f"the file {file[-80:]!r}", "<sha256 of the image>.png")
    return match[1]


def _number(value: object, where: str) -> float | None:
    """A number, also one that was written as text; None for none. BuildError SOURCE_VALUE."""
    if value is None:
        return None
    try:
        number = float(value) if isinstance(value, int | float | str) else math.inf
    except ValueError:
        number = math.inf
    if not abs(number) < _LARGEST:
        raise _value(where, repr(value)[:80], f"a number below {_LARGEST:,}")
    return number


def _label(labels: Mapping[str, str], word: object, where: str) -> str:
    """The label of a detector's word; '' without one. BuildError SOURCE_VALUE."""
    if word in (None, ""):
        return ""
    label = labels.get(word, labels.get(word.lower())) if isinstance(word, str) else None
    if label is None:
        raise _value(where, repr(word)[:80], f"one of {', '.join(labels)}")
    return label


def _value(where: str, what: str, expected: str) -> BuildError:
    return BuildError("SOURCE_VALUE", where, what, expected, AGAIN)


LAYOUTS: Mapping[str, Callable[[Path, Mapping[str, str]], Rows]] = {
    "fairface": _fairface,
    "uniface": _uniface,
    "deepface": _deepface,
}


VOCABULARY = {"gender": GENDERS, "age": AGES, "skin_tone": SKIN_TONES, "race": tuple(PROTOTYPES["race"])}
"""Attribute -> labels that a general model can give."""
USUAL = "gender,age,skin_tone"
"""Attributes unless others are named: those of IRIS."""
NONE = "none"
OPEN = f"Write {NONE} for a key that the image leaves open, and for every key if it shows no person."
TOKENS, CONCURRENCY, BATCH, SIDE = 256, 16, 16, 768
"""Tokens of the longest answer, questions at a time, images of a pass of CLIP, and longest side of a sent image."""


def open_labeller(name: str) -> tuple[str | Package, str]:
    """Labeller and model, arguments of `annotate`: a package, a general model and '', or ARES with its folder or ID.

    Errors: BuildError TOOL_MISSING for a name that cannot be read; RunError MODEL_UNKNOWN.
    """
    if name in PACKAGES:
        return name, ""
    scheme = name.partition("?")[0].partition(":")[0]
    if scheme in SCHEMES:
        opener, what, settings = read("labeller", name, SCHEMES)
        return opener.open(what, settings, None), ""
    return ARES, name.removeprefix("ares:")


def face_detector(name: str) -> Any:
    """The face detector that SCHEME:WHAT names, the settings of that in FOLDER or ID@REVISION; None for ''."""
    if ":" in name:
        return open_face_parts(name)
    source, _, revision = name.partition("@")
    return {"source": source, **({"revision": revision} if revision else {})} if name else None


def _attributes(labeller: str, text: str) -> tuple[str, ...]:
    attributes = tuple(text.split(","))
    if not set(attributes) <= set(VOCABULARY) or len(set(attributes)) < len(attributes):
        raise wrong("labeller", labeller, f"attributes={text}", f"some of {', '.join(VOCABULARY)}, with commas")
    return attributes


def _settings(**settings: Any) -> str:
    """The settings that are not the usual ones, as a name ends with them."""
    usual = {"margin": MARGIN, "tokens": TOKENS, "attributes": USUAL}
    text = "&".join(f"{name}={value}" for name, value in settings.items() if value != usual[name])
    return f"?{text}" if text else ""


def _clip(what: str, settings: Mapping[str, Any], _: Any) -> OpenedLabeller:
    margin, names = settings.get("margin", MARGIN), settings.get("attributes", USUAL)
    attributes = _attributes(f"clip:{what}", names)
    clip = Clip(what, batch=settings.get("batch", BATCH))
    labeller = ClipLabeller(clip, margin=margin, attributes=attributes)
    identity = clip.name.removeprefix("clip ")

    def label(images: Sequence[Image]) -> list[list[SeenFace]]:
        return [
            [] if reason else [SeenFace((0, 0, *image.size), labels, chances)]
            for image, (reason, labels, chances) in zip(images, labeller.seen(images), strict=True)
        ]

    return OpenedLabeller(
        name=f"clip:{identity.partition('@')[0]}{_settings(margin=margin, attributes=names)}",
        version=identity.partition("@")[2] or identity.partition(" (")[2].rstrip(")"),
        attributes={name: VOCABULARY[name] for name in attributes},
        asked=json.dumps([{name: PROTOTYPES[name] for name in attributes}, TEMPLATES]),
        label=label,
    )


def _vlm(what: str, arguments: Mapping[str, Any], _: Any) -> OpenedLabeller:
    from fairspace.submissions.running.asking.models import ModelSettings, found_revision

    names, tokens = arguments.get("attributes", USUAL), arguments.get("tokens", TOKENS)
    attributes = _attributes(f"vlm:{what}", names)
    concurrency = arguments.get("concurrency", CONCURRENCY)
    settings = ModelSettings(what, connections=concurrency, temperature=0.0, max_tokens=tokens)
    version, name = found_revision(settings), public_name(what)
    if name != what and "(" not in name:  # a folder's name says little
        name = f"{name} ({version})"
    task = labelling_task(attributes)
    asking = InspectVlm(settings)

    def label(images: Sequence[Image]) -> list[list[SeenFace]]:
        faces = []
        for image, answer in zip(images, asking.answer(images, task), strict=True):
            values = dict(zip(attributes, answer.split("/"), strict=True)) if answer else {}
            labels = {name: "" if values.get(name, NONE) == NONE else values[name] for name in attributes}
            faces.append([] if answer and not any(labels.values()) else [SeenFace((0, 0, *image.size), labels)])
        return faces

    return OpenedLabeller(
        name=f"vlm:{name.partition('@')[0]}{_settings(tokens=tokens, attributes=names)}",
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


class InspectVlm(ArbiterAsking):
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
    "uniface": Scheme("uniface:FILE", "", _DETECTOR, lambda f, more, _: read_detections("uniface", f, **more)),
    "deepface": Scheme("deepface:FILE", "", _DETECTOR, lambda f, more, _: read_detections("deepface", f, **more)),
}
