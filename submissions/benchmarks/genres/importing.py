"""GENRES' files as the paper's authors publish and write them: JSONL, plain or gzip, one line per pair.

Responses, and the analyses of their judge (`analysis_*`, written by their `eval.py`), become a submission; prompts and
pictures (`genre_mf_*_query.jsonl`) are asked of a new model. A line names its element and a code of four hexadecimal
digits from its image's file name. An id's image number is the place of its code among the element's sorted codes. Of an
incomplete element the last images are the missing ones.
"""

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pydantic import ValidationError

from fairspace.builders.errors import BuildError
from fairspace.builders.genres.plan import AGES, IMAGES, NAMES, RELATION_NAMES, UPSTREAM, Element, ids, load_elements
from fairspace.submissions.errors import UsageError, did_you_mean
from fairspace.submissions.format.faults import Collector, RefusedError, SubmissionError, show
from fairspace.submissions.format.schema import SubmissionMeta
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.reading.containers import LIMITS, Limits
from fairspace.submissions.reading.tables import check_values, decode, parse

FIELDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("relationship", "age", "text_prompt", "image_code", "image_name"), (str,)),
    **dict.fromkeys(("relationship_group", "scenario_index"), (int,)),
    "names": (list,),
}
RESPONSE: dict[str, tuple[type, ...]] = {"response": (str, type(None))}
ANALYSIS: dict[str, dict[str, tuple[type, ...]]] = {
    "PA": dict.fromkeys(("Personality", "Occupation", "Interests"), (str, type(None))),
    "AR": {"high_status": (int,)},
    "NF": {"Pros": (str, type(None)), "Cons": (str, type(None)), "Main": (int,)},
}
"""Fields of `<gender>_<name>_analysis` that hold the judge's answers; the others are computed from the passage."""
JUDGE = {
    "name": "meta-llama/Meta-Llama-3.1-8B-Instruct",
    "version": "not stated",
    "settings": {"temperature": 0.7, "top_p": 0.95, "max_tokens": 1024, "imported": "fields of eval.py's analysis"},
}
"""The judge of `eval.py` at 38497a9."""
QUERIES = tuple(f"genre_mf_{relation}_query.jsonl" for relation in RELATION_NAMES)
STATED = ("revision", "organisation", "licence", "contact")
"""Optional fields of `submission.json` beside the model's name."""
_TYPES = {str: "a text", int: "an integer", list: "a list", type(None): "null"}
_FILE_NAME = re.compile(r"(?:analysis_)?(?P<model>.+)_mf_(?:cs|em|mp|ar)\.jsonl(?:\.gz)?")
_CODE = re.compile(r"[0-9A-F]{4}")
_CONFLICT = "around a conflict or disagreement"


class ImportedLine(NamedTuple):
    """Used parts of one line, its file and place; `judged`: task of the judge -> its answer, {} without analyses."""

    element: str
    code: str
    names: str
    prompt: str
    response: str | None
    judged: Mapping[str, str | None]
    file: str
    place: str


def import_genres(
    files: Sequence[Path], out: Path, *, model: str | None = None, limits: Limits = LIMITS, **stated: str
) -> Path:
    """Write the responses and judgements of one model as a submission to revision `upstream`, and return its path.

    `files` are the model's JSONL files, usually four, one per relational model, and as many of analyses, which have the
    responses too, but for those that the authors' program could not analyse; `out` is a new folder or zip. `model`
    is by default the one of `<model>_mf_<relation>.jsonl[.gz]`; `stated` are fields of `STATED`, else "not stated".

    Errors: SubmissionError with every fault (file, line, what was found, what the layout has); UsageError if a file is
    missing, if the files' names give no model or several, or if there is something at `out`.
    """
    paths = [Path(file) for file in files]
    missing = [path for path in paths if not path.is_file()]
    if missing or not paths:
        raise UsageError(f"There is no file {missing[0]}." if missing else "Name at least one JSONL file.")
    about = {"model": model or _model(paths), **dict.fromkeys(STATED, "not stated"), **stated}
    faults = Collector(limits.faults)
    needed = {**FIELDS, **RESPONSE}
    placed = _placed([line for path in paths for line in _read(path, limits, faults, needed)], faults)
    rows = [_key(item) | {"response": line.response, "names": line.names} for item, line in placed]
    judged = [_key(item, task) | {"judgement": raw} for item, line in placed for task, raw in line.judged.items()]
    if not rows and not faults.all():
        faults.add("EMPTY_SUBMISSION", ", ".join(path.name for path in paths), "no line", expected="one line per pair")
    if faults.all():
        raise SubmissionError(list(faults.all()))
    try:
        meta = SubmissionMeta.model_validate(
            {"format": 1, "benchmark": "genres", "dataset_revision": UPSTREAM, "generation": {}, **about}
            | ({"judge": JUDGE} if judged else {})
        )
    except ValidationError as error:
        problem = error.errors()[0]
        what = f"{problem['loc'][0]} {show(problem['input'])} does not fit submission.json: {problem['msg']}"
        raise UsageError(f"{what}.") from error
    tables = {"responses": rows} | ({"judgements": judged} if judged else {})
    return write_submission(Path(out), meta, {name: pa.Table.from_pylist(of) for name, of in tables.items()})


def authors_pairs(task: str, data: str) -> pa.Table:
    """The authors' pairs in the order of the ids: `id`, `prompt`, `names` and `image`, the path of its picture.

    `data` is the folder of their dataset or of its `NEPs`. BuildError SOURCE_MISSING, SOURCE_LAYOUT.
    """
    whole = Path(data or "--data").expanduser()
    folder = next((at for at in (whole, whole / "NEPs", whole / "data" / "NEPs") if (at / QUERIES[0]).is_file()), whole)
    mend = "fetch https://huggingface.co/datasets/Savannah-y7/Genres, and name its folder as --data"
    if missing := [name for name in QUERIES if not (folder / name).is_file()]:
        expected = f"the authors' dataset: {', '.join(QUERIES)}"
        raise BuildError("SOURCE_MISSING", str(folder), f"no {', '.join(missing)}", expected, mend)
    faults = Collector(LIMITS.faults)
    placed = dict(_placed([line for name in QUERIES for line in _read(folder / name, LIMITS, faults, FIELDS)], faults))
    for fault in faults.all():
        raise BuildError("SOURCE_LAYOUT", str(folder / fault.where), fault.what, fault.expected, mend)
    pairs = ids(UPSTREAM).to_pylist()
    if absent := [item for item in pairs if item not in placed]:
        what = f"{len(absent)} of the pairs are not there, the first of them {absent[0]}"
        raise BuildError("SOURCE_LAYOUT", str(folder), what, f"{IMAGES} pictures of each element", mend)
    lines = [placed[item] for item in pairs]
    images = folder / "Image" / "mf"
    pictures = [images / line.element.partition("/")[0] / _picture(line.element, line.code) for line in lines]
    columns = [pairs, [line.prompt for line in lines], [line.names for line in lines], [*map(str, pictures)]]
    return pa.table(columns, names=["id", "prompt", "names", "image"])


def _model(paths: Sequence[Path]) -> str:
    models = {match["model"] if (match := _FILE_NAME.fullmatch(path.name)) else "" for path in paths}
    if "" in models or len(models) > 1:
        names = ", ".join(path.name for path in paths)
        raise UsageError(
            f"The names {names} do not give one model (<model>_mf_<cs|em|mp|ar>.jsonl); name it: --about model=NAME."
        )
    return models.pop()


def _read(
    path: Path, limits: Limits, faults: Collector, needed: Mapping[str, tuple[type, ...]]
) -> Iterator[ImportedLine]:
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
        with closing(gzip.open(path) if packed else path.open("rb")) as stream:
            number = size = 0
            while data := stream.readline(limits.row_bytes + 1):
                number, size = number + 1, size + len(data)
                place = f"line {number}"
                for code, count, most, unit in (
                    ("ROW_TOO_LONG", len(data), limits.row_bytes, "bytes"),
                    ("TOO_LARGE", size, limits.member_bytes, "bytes"),
                    ("TOO_MANY_ROWS", number, limits.faulty_rows, "lines"),
                ):
                    if count > most:
                        faults.add(code, path.name, f"more {unit}", expected=f"at most {most:,} {unit}", place=place)
                        return
                try:
                    row = parse(decode(data), limits.depth)
                    check_values(row)
                    yield ImportedLine._make((*_read_row(row, needed), path.name, place))
                except RefusedError as refused:
                    faults.refuse(refused, path.name, place)
    except (OSError, EOFError, zlib.error) as error:
        faults.add("UNREADABLE_FILE", path.name, str(error)[:200], expected="a whole JSONL file, plain or gzip")


def _read_row(row: Any, needed: Mapping[str, tuple[type, ...]]) -> tuple[Any, ...]:
    """The fields of a `ImportedLine`, checked. RefusedError says what is wrong."""
    if type(row) is not dict:
        raise RefusedError("NOT_AN_OBJECT", f"found {show(row)}", "an object with the layout's fields")
    for field, kinds in needed.items():
        if field not in row:
            near = did_you_mean(field, [key[:64] for key in row if key not in needed])
            raise RefusedError("MISSING_FIELD", f"no {field!r}{near}", f"the fields {', '.join(needed)}")
        if type(row[field]) not in kinds:
            expected = " or ".join(_TYPES[kind] for kind in kinds)
            raise RefusedError("WRONG_TYPE", f"{field} is {show(row[field])}", f"{field}: {expected}")
    element, names, code = _element(row), row["names"], row["image_code"]
    if not _CODE.fullmatch(code):
        raise RefusedError("LAYOUT_IMAGE", f"image_code {show(code)}", "four hexadecimal digits in capitals")
    if row["image_name"] != (picture := _picture(element.id, code)):
        raise RefusedError("LAYOUT_IMAGE", f"image_name {show(row['image_name'])}", picture)
    if len(names) != 2 or any(sum(name in pool for name in names) != 1 for pool in NAMES.values()):
        raise RefusedError("INVALID_NAMES", f"names {show(names)}", "one woman's and one man's name of Table 9")
    if f"two characters, {names[0]} and {names[1]}," not in row["text_prompt"]:
        what = f"names {names[0]}, {names[1]}, which the prompt has not in this order"
        raise RefusedError("LAYOUT_PROMPT", what, "the names of text_prompt, in its order")
    return element.id, code, "|".join(names), row["text_prompt"], row.get("response"), _judged(row, names)


def _picture(element: str, code: str) -> str:
    relation, age, relationship, scenario = element.split("/")
    return f"mf_{relation}_{age}_group{int(relationship)}_scenario{scenario}_{code}.png"


def _judged(row: dict[str, Any], names: Sequence[str]) -> dict[str, str | None]:
    """The judge's answers of a line of `analysis_*`, as JSON in the form that its prompts ask for; {} of another line.

    Their program keeps 1 for the name that an answer chose (Tasks 1.a and 1.b) and 0 for the other, else twice 0; null
    is a field that the judge left out, or a profile that it could not analyse.
    """
    keys = {name: f"{'male' if name in NAMES['male'] else 'female'}_{name}_analysis" for name in names}
    if not row.keys() & set(keys.values()):
        return {}
    parts: dict[tuple[str, str], dict[str, Any]] = {}
    for name, (group, fields) in product(names, ANALYSIS.items()):
        whole = row.get(keys[name])
        part = parts[name, group] = (whole.get(group) if type(whole) is dict else None) or {}
        for field, kinds in fields.items():
            if type(part) is not dict or type(part.get(field, object)) not in kinds:
                what = f"{keys[name]}, {group}, {field} of {show(part)}"
                raise RefusedError("WRONG_TYPE", what, "an analysis as eval.py writes it")
    answers: dict[str, str | None] = {}
    for name, key in keys.items():
        entry = {field: value for field in ANALYSIS["PA"] if (value := parts[name, "PA"][field]) is not None}
        answers[f"profile_{key.partition('_')[0]}"] = json.dumps(entry, ensure_ascii=False) if entry else None
    entry = {}
    for letter, group, field in (("a", "AR", "high_status"), ("b", "NF", "Main")):
        persons = [name for name in names if parts[name, group][field] == 1]
        entry[f"Answer to Task1.{letter}"] = persons[0] if len(persons) == 1 else "NA"
    for name, field in product(names, ("Pros", "Cons")):
        if (value := parts[name, "NF"][field]) is not None:
            entry[f"{field} of {name}"] = value
    return answers | {"narrative_analysis": json.dumps(entry, ensure_ascii=False)}


def _element(row: dict[str, Any]) -> Element:
    for field, words in (("relationship", [*RELATION_NAMES.values()]), ("age", [*AGES.values()])):
        if row[field] not in words:
            near = did_you_mean(row[field][:64], words)
            raise RefusedError("VOCABULARY", f"{field} {show(row[field])}{near}", f"one of: {', '.join(words)}")
    element = _elements().get((row["relationship"], row["age"], row["relationship_group"], row["scenario_index"]))
    if element is None:
        where = f"group {row['relationship_group']}, scenario {row['scenario_index']} of {row['relationship']}"
        groups = "groups 0-2 and scenarios 0-7 (communal sharing); groups 0-17, six per age, and scenarios 0-3 (others)"
        raise RefusedError("UNKNOWN_ID", f"{where} {row['age']}", groups)
    if (element.plot == "conflict") != (_CONFLICT in row["text_prompt"]):
        raise RefusedError("LAYOUT_PROMPT", f"{element.id} without a prompt for its plot", f"a {element.plot} prompt")
    return element


@lru_cache
def _elements() -> dict[tuple[str, str, int, int], Element]:
    return {(RELATION_NAMES[e.relation], AGES[e.age], e.relationship, e.scenario): e for e in load_elements()}


def _placed(lines: Sequence[ImportedLine], faults: Collector) -> list[tuple[str, ImportedLine]]:
    """The lines with their ids; of a pair's response and its analysis, the analysis."""
    codes: dict[str, dict[str, ImportedLine]] = {}
    for line in lines:
        by_code = codes.setdefault(line.element, {})
        if (before := by_code.get(line.code)) is not None:
            if bool(before.judged) == bool(line.judged) or before[:5] != line[:5]:
                what = f"{line.element}, image {line.code}, again"
                expected = "every pair once, or once beside the analysis of the same response"
                faults.add("DUPLICATE_ID", line.file, what, expected=expected, place=line.place)
            elif line.judged:
                by_code[line.code] = line
        elif len(by_code) == IMAGES:
            what = f"image {line.code}, beside {', '.join(sorted(by_code))} of {line.element}"
            faults.add("LAYOUT_IMAGE", line.file, what, expected=f"{IMAGES} images per element", place=line.place)
        else:
            by_code[line.code] = line
    return [
        (f"{element}/{i}", by_code[code])
        for element, by_code in codes.items()
        for i, code in enumerate(sorted(by_code))
    ]


def _key(item: str, task: str = "narrative") -> dict[str, Any]:
    return {"task": task, "id": item, "sample": 0}
