"""Evidence page: a result beside its user's statements on a system (TOML) and thresholds, by the gate's policy."""

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.errors import UsageError, did_you_mean, plain
from fairspace.submissions.exchange import generation
from fairspace.submissions.format.schema import LABELS, VOCABULARY
from fairspace.submissions.gating import Check, hold_against
from fairspace.submissions.plotting import digits
from fairspace.submissions.report.contents import Report
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import limits_of
from fairspace.submissions.show.headline import first_values, in_short, named, numbers_of, value_table
from fairspace.submissions.show.table import Table
from fairspace.submissions.standards import digest, document

NOT_STATED = "not stated"
CARDS = Path(__file__).parents[2] / "cards"
TEMPLATE = Path(__file__).with_name("statement.toml").read_text(encoding="utf-8")
TEXTS = tomllib.loads(Path(__file__).with_name("evidence.toml").read_text(encoding="utf-8"))
VERDICTS = {"worse": "shown to be beyond", "better": "shown to be within", "measured": "no threshold"}
_THRESHOLDS = {"distance": "at most {} from its ideal", "least": "at least {}", "most": "at most {}", "": NOT_STATED}
_GROUPS = {label.lower() for name in LABELS for label in VOCABULARY[name]}
_IDENTITY = ("standard", "dataset_revision", "submission", "answers", "sketch")
_STRICT = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
_Texts: Any = dict.fromkeys(tomllib.loads(TEMPLATE), (str, ""))


class Threshold(BaseModel):
    """A threshold in the value's unit: its largest distance from the ideal, or its least or most."""

    model_config = _STRICT
    distance: float | None = Field(None, ge=0)
    least: float | None = None
    most: float | None = None


_Given = Annotated[Threshold, BeforeValidator(lambda raw: raw if isinstance(raw, dict) else {"distance": raw})]


class Statement(create_model("_Stated", __config__=_STRICT, **_Texts)):  # type: ignore[misc]
    """The user's statements, a text for each key of `statement.toml`; `thresholds`: benchmark -> value -> threshold."""

    thresholds: dict[str, dict[str, _Given]] = Field(default_factory=dict)


def read_statement(path: Path) -> Statement:
    """The statement in a TOML file. UsageError for an unknown key, or a threshold that is no number."""
    try:
        statement = Statement.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = [*map(str, first["loc"])]
        what = f"{str(first['input'])[:60]!r}. Expected {'a number' if len(place) > 2 else 'a text'}"
        if first["type"] == "extra_forbidden":
            fields = (Threshold if len(place) > 2 else Statement).model_fields
            what = f"unknown key{did_you_mean(place[-1], fields)}. Known: {', '.join(fields)}"
        raise UsageError(f"{path.name}: {'.'.join(place)}: {what}.") from error
    except (OSError, ValueError) as error:
        fault = error.strerror if isinstance(error, OSError) else error
        mend = "--evidence-template FILE.toml writes an empty one"
        raise UsageError(f"{path.name}: {fault}. Expected TOML; {mend}.") from error
    for name in statement.thresholds.keys() - set(NAMES):
        raise UsageError(f"{path.name}: thresholds.{name}: unknown benchmark{did_you_mean(name, NAMES)}.")
    return statement


def evidence_page(report: Report, statement: Statement) -> Report:
    """The evidence page of a report on one result. UsageError for several, or a threshold of an unknown value."""
    if len(report.results) != 1:
        raise UsageError("--evidence: expected one RESULT; make a page of each, with the same FILE.")
    (result,) = report.results
    missing = [replace(table, name="") for name in ("readings", "missing") if (table := report.table(name))]
    tables = [
        _facts("System and use, as its user states them", statement.model_dump(exclude={"thresholds"})),
        _facts("Identity of model, answers and rules", _identity(result)),
        _facts("How it was run, and how to repeat it", _run(result)),
        replace(of_limits := _thresholds(result, statement), note=f"{of_limits.note} {_written(result, statement)}"),
        _by_group(result),
        *missing,
        Table(("of", "limit"), _scope(result), "Limits of scope", name="scope"),
        Table(("erratum", "in short"), _errata(result.benchmark), "Errata of the benchmark", TEXTS["errata"], "errata"),
        Table(TEXTS["map"][0], TEXTS["map"][1:], "Evidence for", TEXTS["law"], "map"),
        Table(TEXTS["gaps"][0], TEXTS["gaps"][1:], "No evidence for", name="gaps"),
        Table(("field", "content"), _form(result, statement), "Documentation form", TEXTS["form_note"], "form"),
    ]
    page = replace(report, title=f"Evidence: {report.title}", tables=tables, items=())
    hashes = [
        ("this page as JSON", to_json(page)),
        ("result", result.dumps()),
        ("statement", statement.model_dump_json()),
    ]
    hashed = [(what, hashlib.sha256(text.encode()).hexdigest()) for what, text in hashes]
    return replace(page, tables=[*tables, Table(("of", "sha256"), hashed, "Hashes", name="hashes")])


def to_json(page: Report) -> str:
    """An evidence page as JSON: the same tables, methods and citations; its own hash stands in the other forms."""
    tables = [
        {"name": t.name, "heading": t.heading, "note": t.note, "columns": [*t.columns], "rows": [*map(list, t.rows)]}
        for t in page.tables
        if t.name != "hashes"
    ]
    data = {"title": page.title, "openings": page.openings, "tables": tables, "methods": page.methods}
    return json.dumps(data | {"citations": page.citations}, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def thresholds_digest(statement: Statement) -> str:
    """Sha256 of the thresholds of a statement, whatever else it states."""
    return hashlib.sha256(json.dumps(statement.model_dump()["thresholds"], sort_keys=True).encode()).hexdigest()


def _written(result: Result, statement: Statement) -> str:
    """The mark of thresholds that were, or were not, hashed before the first question."""
    digest_now = thresholds_digest(statement)
    before = (result.meta.get("generation") or {}).get("thresholds_sha256") == digest_now
    return f"They were {TEXTS['before' if before else 'after']}. Sha256 {digest_now}."


def _form(result: Result, statement: Statement) -> list[tuple[str, str]]:
    """Fields of the Code's documentation form, and what the submission and the statement say of them."""
    facts = {**statement.model_dump(exclude={"thresholds"}), **result.meta}
    facts["measured"] = ", ".join(name for name, value in first_values(result).items() if value.value is not None)
    asked = [task for task in benchmark(result.benchmark).tasks if task.name in {*result.readings, *result.consistency}]
    shown = any(task.about_image for task in asked) or any(stage.get("datasets") for stage in result.run)
    made = {"annotations": "images", "responses": "text", "judgements": "text"}
    if outputs := dict.fromkeys(made[task.table] for task in asked):
        facts["modalities"] = f"text{' and images' if shown else ''} in, {' and '.join(outputs)} out"
    return [(field, plain(str(facts.get(key) or "")).strip() or NOT_STATED) for field, key in TEXTS["form"]]


def _facts(heading: str, facts: Mapping[str, Any]) -> Table:
    rows = [(key.replace("_", " "), plain(str(fact)).strip() or NOT_STATED) for key, fact in facts.items()]
    return Table(("item", "content"), rows, heading, name=heading.partition(" ")[0].lower())


def _identity(result: Result) -> dict[str, Any]:
    bench, signature, questions = benchmark(result.benchmark), result.signature, hashlib.sha256()
    revision, standard = signature.get("dataset_revision", NOT_STATED), bench.standards[result.standard]
    for task, table in bench.items(revision).items() if bench.has_revision(revision) else ():
        questions.update("\0".join([task, *table["id"].to_pylist(), *table["prompt"].to_pylist()]).encode())
    facts = {name: result.meta.get(name, "") for name in ("model", "revision", "organisation", "licence")}
    facts |= {f"data of {name}": text for stage in result.run for name, text in stage.get("datasets", {}).items()}
    facts |= {f"sha256 of the {name}": signature.get(name, "") for name in ("answers", "submission")}
    facts["benchmark"] = f"{bench.title}, revision {revision}, sha256 of ids and prompts {questions.hexdigest()}"
    return facts | {"standard": f"{result.standard}, sha256 {digest(document(bench.name, standard))}"}


def _run(result: Result) -> dict[str, Any]:
    """Settings of generation, engines, labels, judge, parser; and how to repeat it."""
    error = {"error of the labels": "under Methods" if "label_error" in result.meta else NOT_STATED}
    tools = {"judge": "none", "labels": "none", **result.signature, **(error if "labels" in result.signature else {})}
    shown = {name: text for name, text in tools.items() if name not in _IDENTITY}
    for stage in result.run:
        shown[f"engine of {stage['what']}"] = f"{stage['engine']} {stage['engine_version']}"
        shown[f"sha256 of its prompts, {stage['what']}"] = stage.get("prompts", "")
    proof = [f"{task}: {'one to one' if held.holds else 'broken'}" for task, held in result.consistency.items()]
    again = {"items, answers, readings": ", ".join(proof), "asked again": TEXTS["asked_again"]}
    again |= {"scored again": f"fairspace score SUBMISSION --standard {result.standard} gives the same bytes"}
    return {"seed": NOT_STATED, **generation(result), **shown, **again}


def _thresholds(result: Result, statement: Statement) -> Table:
    """The checks of the user's thresholds, then the first values without one."""
    bounds, rows, scored = statement.thresholds.get(result.benchmark, {}), [], result.scored
    unproven = scored.unranked if scored.scores[scored.ranking].value is not None else ()  # below a floor
    words = {**VERDICTS, "better": f"within, not counted: {in_short(*unproven)}"} if unproven else VERDICTS
    checks = hold_against(result, [(name, kind, n) for name, of in bounds.items() for kind, n in of if n is not None])
    alone = [Check(name, "", None, None, None, "measured") for name in first_values(result) if name not in bounds]
    for check in (*checks, *alone):
        three = numbers_of(result, scored.shown.get(check.name) or result.values[check.name])
        interval = "; ".join(filter(None, (three.interval_text, three.missing_text)))
        threshold = _THRESHOLDS[check.direction].format(digits(check.against))
        verdict = "undefined" if three.value is None else words.get(check.verdict, "cannot be told")
        meaning = benchmark(result.benchmark).describe(check.name)
        rows.append((check.name, meaning, three.value_text, interval, threshold, verdict))
    headers = ("value", "meaning", "measured", "95 % interval", "threshold", "verdict")
    return Table(headers, rows, "Results against the thresholds of the user", TEXTS["policy"], "thresholds")


def _by_group(result: Result) -> Table:
    """The first values, every value of a group, and those with a number for each group."""

    def describe(name: str) -> str:
        return "; ".join(filter(None, (benchmark(result.benchmark).describe(name), shares.get(name))))

    shares = {
        name: ", ".join(f"{group} {digits(n)}" for group, n in of.items() if not isinstance(n, Mapping))
        for name, value in result.values.items()
        if (of := value.evidence.get("by_group"))
    }
    first, defined = first_values(result), [name for name, value in result.values.items() if value.value is not None]
    names = [name for name in defined if name in first or shares.get(name) or _GROUPS & set(re.split(r"[_.]", name))]
    shown = [named(result, names or first)]
    return value_table("groups", "Results by group", [result], shown, describe)


def _scope(result: Result) -> list[tuple[str, str]]:
    rows = [("the method", text) for text in TEXTS["limits"]]
    rows += [("this run", f"{text[0].upper()}{text[1:]}") for text in (*limits_of(result), *result.scored.unranked)]
    for card in sorted((CARDS / "datasets").glob(f"{result.benchmark}*.md.jinja")):
        text = card.read_text(encoding="utf-8").partition("{% block limits %}")[2].partition("{% endblock %}")[0]
        rows.append((f"dataset {card.name.partition('.')[0]}", " ".join(text.split())))
    return rows


def _errata(name: str) -> list[tuple[str, ...]]:
    parts = re.split(r"^# ", (CARDS / "errata.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    entries = [part for part in parts if re.sub(r"\W", "_", part.partition("\n")[0].lower()).startswith(name)]
    errata = re.findall(r"^## (E-\S+)\n\*\*(.+?)\*\*", "".join(entries), re.MULTILINE | re.DOTALL)
    return [(number, " ".join(text.replace("`", "").split())) for number, text in errata]
