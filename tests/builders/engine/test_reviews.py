import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from fairspace.builders.engine import reviews
from fairspace.builders.engine.build import build
from fairspace.builders.engine.dataset import BuildJob, Dataset, Row, Split
from fairspace.builders.engine.making import Wanted, jpeg, make
from fairspace.builders.engine.reviews import Reviews, read_reviews
from fairspace.builders.engine.tools import Tools
from fairspace.builders.errors import BuildError
from tests.builders.builds import SeedPainter, no_card, rows

AGES = ("young", "older")
PEOPLE = 12


def people() -> Dataset:
    """Twelve persons; the last is of a source and has no seed."""

    def made_rows(part: Sequence[int], job: BuildJob) -> Iterator[Row]:
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

    columns = {
        "image": ("image", ""),
        "seed": ("int64", ""),
        "age": (AGES, ""),
        "job": (("nurse", "tennis_player"), ""),
        **reviews.COLUMNS,
    }

    def splits(job: BuildJob) -> list[Split]:
        return [Split("people", "A person.", columns, range(PEOPLE), lambda part: made_rows(part, job), shard=5)]

    return Dataset("people", "People", "iris", "v1", "CC0-1.0", (), splits)


def made(out: Path, **options: str) -> Path:
    build(people(), out, tools=Tools(generator=SeedPainter()), options=options, describe=no_card)
    return out


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("built") / "people")


def said(name: str, seed: int | None, confirmed: str, disputed: str = "", failed: str = "") -> str:
    lists = {"confirmed": confirmed.split(), "disputed": disputed.split(), "failed": failed.split()}
    return json.dumps({"id": name, "seed": seed, **lists})


def test_the_next_build_makes_failed_images_again_and_holds_what_was_said(built: Path, tmp_path: Path) -> None:
    """Image 2 is disputed, image 4 and the source's image 11 fail, image 6 has no answer."""
    before = {row["id"]: row for row in rows(built, "people")}
    special = {"people/02": ("job", "age", ""), "people/04": ("job", "", "age"), "people/11": ("job", "", "age")}
    lines = [
        said(name, row["seed"], *special.get(name, ("age job", "", "")))
        for name, row in before.items()
        if name != "people/06"
    ]
    (tmp_path / "reviewed.jsonl").write_text("\n".join(lines))
    reviewed = read_reviews(tmp_path / "reviewed.jsonl")
    again = {row["id"]: row for row in rows(made(tmp_path / "again", reviewed=reviewed), "people")}
    changed = [name for name in before if before[name]["image"] != again[name]["image"]]
    assert changed == ["people/04"]
    assert again["people/04"]["seed"] != before["people/04"]["seed"]
    columns_of = {name: tuple(row[column] for column in reviews.COLUMNS) for name, row in again.items()}
    assert columns_of["people/00"] == ("age, job", "", "")
    assert columns_of["people/02"] == ("job", "age", "")
    assert columns_of["people/04"] == columns_of["people/06"] == (None, None, None)
    assert columns_of["people/11"] == ("job", "", "age")
    assert "refused by a person" in (tmp_path / "again/review/rejected.jsonl").read_text()


@pytest.mark.parametrize(
    ("key", "seed", "refused"),
    [
        ("persona/gym/candidate-017", 7, True),
        ("persona/gym/candidate-017", 8, False),
        ("persona/gymnast/candidate-017", 7, False),
        ("pair/0001/b/again-1", 9, True),
        ("pair/0001/b/again-1", 10, True),
        ("pair/0011/b", 9, False),
    ],
)
def test_a_line_of_id_and_seed_refuses_the_candidates_of_that_place(
    tmp_path: Path, key: str, seed: int, refused: bool
) -> None:
    named = [("persona/gym/003", 7), ("pair/0001/b", 9), ("pair/0001/b", 10)]
    lines = [json.dumps({"id": name, "seed": number}) for name, number in named]
    (tmp_path / "x.jsonl").write_text("\n".join(lines))
    option = read_reviews(tmp_path / "x.jsonl")
    (tmp_path / "x.jsonl").write_text("\n".join(reversed(lines)))
    assert read_reviews(tmp_path / "x.jsonl") == option
    assert Reviews({"reviewed": option}).refuses(key, seed) is refused
    assert not Reviews({}).refuses(key, seed)


@pytest.mark.parametrize(
    "line",
    [
        *("{", '["a/b", 1]', '{"id": "a/b"}', '{"id": "a/b", "seed": null}', '{"id": "a", "seed": 1}'),
        '{"id": "a/b", "seed": 1, "failed": []}',
        '{"id": "a/b", "seed": 1.5, "confirmed": [], "disputed": [], "failed": []}',
    ],
)
def test_outcomes_of_another_form_are_told_with_their_line(tmp_path: Path, line: str) -> None:
    good = said("a/a", 1, "age")
    (tmp_path / "x.jsonl").write_text(f"{good}\n{line}\n")
    with pytest.raises(BuildError, match=r"REVIEW_INVALID at .*x\.jsonl:2"):
        read_reviews(tmp_path / "x.jsonl")
    (tmp_path / "x.jsonl").write_text(f"{good}\n{good}\n")
    with pytest.raises(BuildError, match="every image once"):
        read_reviews(tmp_path / "x.jsonl")
    with pytest.raises(BuildError, match="SOURCE_MISSING"):
        read_reviews(tmp_path / "none.jsonl")
