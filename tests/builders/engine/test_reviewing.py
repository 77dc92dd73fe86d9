"""Two reviewers: blind forms, what becomes of their answers, and the next build that takes them up."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from PIL import Image as Images
from PIL.Image import Image

from fairspace.builders.engine import reviews
from fairspace.builders.engine.build import build
from fairspace.builders.engine.dataset import Dataset, Job, Manifest, Row, Split
from fairspace.builders.engine.making import Wanted, jpeg, make
from fairspace.builders.engine.reviewing import HEADER, Outcome, agree, write_forms, write_outcomes
from fairspace.builders.engine.reviews import Reviews, read_reviews
from fairspace.builders.engine.tools import Prompt, Tools
from fairspace.builders.errors import BuildError

AGES = ("young", "older")
QUESTIONS = {"people": {"age": "How old?", "job": "Is this a {label}?"}}
PEOPLE = 12


class Painter:
    name = "painter"

    def generate(self, prompts: Sequence[Prompt]) -> list[Image]:
        return [Images.new("RGB", (8, 8), (prompt.seed % 256, 0, 0)) for prompt in prompts]


def people() -> Dataset:
    """Twelve persons; the last is of a source and has no seed."""

    def rows(part: Sequence[int], job: Job) -> Iterator[Row]:
        said = Reviews(job.options)
        wanted = [Wanted(f"people/{number:02}", "a person") for number in part]
        for number, (item, image) in zip(part, make(job, wanted, lambda i, w: [""] * len(i)), strict=True):
            assert image is not None
            seed = image.info["seed"] if number < PEOPLE - 1 else None
            yield {
                "id": item.key,
                "image": {"bytes": jpeg(image), "path": "x.jpg"},
                "seed": seed,
                "age": AGES[number % 2],
                "job": "tennis_player",
                **said.columns(item.key, seed),
            }

    def features() -> Any:
        from datasets import ClassLabel, Features, Value
        from datasets import Image as ImageFeature

        labels = {"age": ClassLabel(names=list(AGES)), "job": ClassLabel(names=["nurse", "tennis_player"])}
        first = {"id": Value("string"), "image": ImageFeature(), "seed": Value("int64")}
        return Features(first | labels | reviews.review_features())

    def splits(job: Job) -> list[Split]:
        return [Split("people", "test", "A person.", features, range(PEOPLE), lambda part: rows(part, job), 5)]

    return Dataset("people", "People", "iris", "v1", "CC0-1.0", (), splits, questions=QUESTIONS)


def no_card(out: Path, dataset: Dataset, manifest: Manifest) -> None:
    """A made-up dataset has no card."""


def made(out: Path, **options: str) -> Path:
    build(people(), out, tools=Tools(generator=Painter()), options=options, describe=no_card)
    return out


def table(built: Path) -> list[dict[str, Any]]:
    files = sorted((built / "people").glob("*.parquet"))
    return [row for file in files for row in pq.read_table(file).to_pylist()]


def lines(form: Path) -> list[dict[str, str]]:
    with form.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def fill(form: Path, answer: Callable[[dict[str, str]], str]) -> Path:
    """The form with an answer in each line."""
    rows = [line | {"answer": answer(line)} for line in lines(form)]
    with form.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, HEADER)
        writer.writeheader()
        writer.writerows(rows)
    return form


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("built") / "people")


def right(line: Mapping[str, str]) -> str:
    """What the dataset holds."""
    return AGES[int(line["id"][-2:]) % 2] if line["column"] == "age" else "yes"


def test_a_form_is_blind_and_each_reviewer_has_an_order_of_their_own(built: Path, tmp_path: Path) -> None:
    first, second = (lines(form) for form in write_forms(built, QUESTIONS, tmp_path / "out"))
    assert len(first) == 2 * PEOPLE
    assert [line["id"] for line in first] != [line["id"] for line in second]
    assert sorted(map(str, first)) == sorted(map(str, second))
    seeds = {row["id"]: row["seed"] for row in table(built)}
    for line in first:
        assert line["answer"] == ""
        assert line["seed"] == str(seeds[line["id"]] or "")
        assert (tmp_path / "out" / line["image"]).read_bytes()[:3] == b"\xff\xd8\xff"
    asked = {(line["column"], line["question"], line["options"]) for line in first}
    assert asked == {
        ("age", "How old?", "young; older; cannot tell"),
        ("job", "Is this a tennis player?", "yes; no; cannot tell"),
    }
    few = lines(write_forms(built, QUESTIONS, tmp_path / "few", images=4)[0])
    assert len({line["id"] for line in few}) == 4
    assert sorted(right(line) for line in few if line["column"] == "age") == ["older"] * 2 + ["young"] * 2
    with pytest.raises(BuildError, match="OUT_IN_USE"):
        write_forms(built, QUESTIONS, tmp_path / "few")


def test_agreement_and_outcomes_follow_from_both_forms(built: Path, tmp_path: Path) -> None:
    """Image 2 is disputed, image 4 and the source's image 11 fail, image 6 was answered by one alone."""

    def one(line: Mapping[str, str]) -> str:
        wrong = {"people/02": "older", "people/04": "older", "people/11": "cannot tell"}
        return wrong.get(line["id"], right(line)) if line["column"] == "age" else right(line)

    def two(line: Mapping[str, str]) -> str:
        if line["id"] == "people/06":
            return ""
        wrong = {"people/04": "Cannot tell", "people/11": "young"}
        return wrong.get(line["id"], right(line)) if line["column"] == "age" else right(line)

    first, second = write_forms(built, QUESTIONS, tmp_path / "out")
    columns, outcomes = agree(built, QUESTIONS, fill(first, one), fill(second, two))
    by_column = {column.column: column for column in columns}
    age, job = by_column["age"], by_column["job"]
    assert (age.confirmed, age.disputed, age.failed) == (8, 1, 2)
    assert age.kappa[:2] == pytest.approx((11, 8 / 11))
    assert (job.confirmed, job.disputed, job.failed, job.kappa.kappa) == (11, 0, 0, None)
    said = {outcome.id: outcome for outcome in outcomes}
    assert sorted(said) == [f"people/{n:02}" for n in range(PEOPLE) if n != 6]
    seeds = {row["id"]: row["seed"] for row in table(built)}
    assert said["people/02"] == Outcome("people/02", seeds["people/02"], ("job",), ("age",), ())
    assert said["people/04"] == Outcome("people/04", seeds["people/04"], ("job",), (), ("age",))
    assert said["people/11"].seed is None

    write_outcomes(tmp_path / "reviewed.jsonl", outcomes)
    again = {
        row["id"]: row for row in table(made(tmp_path / "again", reviewed=read_reviews(tmp_path / "reviewed.jsonl")))
    }
    before = {row["id"]: row for row in table(built)}
    changed = [name for name in before if before[name]["image"] != again[name]["image"]]
    assert changed == ["people/04"]
    assert again["people/04"]["seed"] != before["people/04"]["seed"]
    columns_of = {name: tuple(row[column] for column in reviews.FIELDS) for name, row in again.items()}
    assert columns_of["people/00"] == ("age, job", "", "")
    assert columns_of["people/02"] == ("job", "age", "")
    assert columns_of["people/04"] == columns_of["people/06"] == (None, None, None)
    assert columns_of["people/11"] == ("job", "", "age")
    assert "refused by a person" in (tmp_path / "again/review/rejected.jsonl").read_text()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("id,seed", "name,seed", 1), r"first\.csv:1: name, seed"),
        (lambda text: text.replace("cannot tell,", "cannot tell,old", 1), r"first\.csv:2: answer 'old'"),
        (lambda text: text + text.splitlines()[1] + "\n", r"first\.csv:26: people/\d\d \w+ again"),
        (lambda text: text.replace("people/03,", "people/99,"), "people/99, seed"),
        (lambda text: text.replace("older; cannot tell,", "older; ancient,ancient", 1), "'ancient'"),
        (lambda text: text + "a,b\n", r"first\.csv:26: 2 cells"),
    ],
)
def test_a_form_that_does_not_fit_is_told_with_its_line(
    built: Path, tmp_path: Path, change: Callable[[str], str], said: str
) -> None:
    forms = write_forms(built, QUESTIONS, tmp_path / "out")
    first = tmp_path / "first.csv"
    first.write_text(change(forms[0].read_text(encoding="utf-8").replace("\r", "")), encoding="utf-8")
    with pytest.raises(BuildError, match=f"REVIEW_INVALID at .*{said}"):
        agree(built, QUESTIONS, first, forms[1])
    with pytest.raises(BuildError, match="one form twice"):
        agree(built, QUESTIONS, first, first)


@pytest.mark.parametrize(
    "line", ["{", '{"id": "a/b"}', '{"id": "a/b", "seed": 1.5, "confirmed": [], "disputed": [], "failed": []}']
)
def test_outcomes_of_another_form_are_told_with_their_line(tmp_path: Path, line: str) -> None:
    good = Outcome("a/a", 1, ("age",), (), ()).dumps()
    (tmp_path / "x.jsonl").write_text(f"{good}\n{line}\n")
    with pytest.raises(BuildError, match=r"REVIEW_INVALID at .*x\.jsonl:2"):
        read_reviews(tmp_path / "x.jsonl")
    (tmp_path / "x.jsonl").write_text(f"{good}\n{good}\n")
    with pytest.raises(BuildError, match="every id once"):
        read_reviews(tmp_path / "x.jsonl")
    with pytest.raises(BuildError, match="SOURCE_MISSING"):
        read_reviews(tmp_path / "none.jsonl")
