import hashlib
import json
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image as Images
from PIL.Image import Image

from fairspace.builders.engine.dataset import BuildJob
from fairspace.builders.engine.making import Candidate, PlanStore, Verdict, Wanted, jpeg, make, seed
from fairspace.builders.engine.tools import ImagePrompt, Tools
from fairspace.builders.errors import BuildError
from tests.builders.builds import Killed, SeedPainter, files, red_of


def judge(images: Sequence[Image], wanted: Sequence[Wanted]) -> list[Verdict | str]:
    """Two in three fail, and one wanted image can never be made."""
    verdicts: list[Verdict | str] = []
    for image, one in zip(images, wanted, strict=True):
        red = image.tobytes()[0]
        if one.key == "unit/5":
            verdicts.append("impossible")
        else:
            verdicts.append(Verdict("too red", {"red": red / 7}) if red > 85 else "")
    return verdicts


WANTED = [Wanted(f"unit/{n}", f"a photo of {n}") for n in range(23)]


def run(
    work: Path, *, batch: int = 4, painter: SeedPainter | None = None, wanted: Sequence[Wanted] = WANTED
) -> tuple[list[tuple[str, bytes | None]], list[str]]:
    painter = painter or SeedPainter()
    job = BuildJob(None, work, seed=3, tools=Tools(generator=painter, editor=painter))
    made = [
        (one.key, image.tobytes() if image else None)
        for one, image in make(job, wanted, judge, attempts=40, batch=batch)
    ]
    return made, job.take_rejected()


def test_every_image_passed_the_check_and_the_log_says_what_did_not(tmp_path: Path) -> None:
    made, rejected = run(tmp_path)
    assert [key for key, _ in made] == [one.key for one in WANTED]
    assert all(data is not None and data[0] <= 85 for key, data in made if key != "unit/5")
    log = [json.loads(line) for line in rejected]
    assert dict(made)["unit/5"] is None
    of_five = [line for line in log if line["unit"] == "unit/5"]
    assert [line["reason"] for line in of_five] == ["impossible"] * 40 + ["gave up"]
    assert of_five[-1]["attempts"] == 40
    red = [line for line in log if line["reason"] == "too red"]
    assert len(red) > 20
    assert all(line["red"] > 85 / 7 and line["attempt"] < 40 for line in red)


def test_an_image_says_its_seed_and_what_the_check_found(tmp_path: Path) -> None:
    def judged(images: Sequence[Image], wanted: Sequence[Wanted]) -> list[Verdict]:
        reds = [image.tobytes()[0] for image in images]
        return [Verdict("too red" if red > 128 else "", {"red": red}) for red in reds]

    job = BuildJob(None, tmp_path, seed=3, tools=Tools(generator=SeedPainter()))
    for _ in ("made", "taken up"):
        images = [image for _, image in make(job, WANTED, judged, attempts=40) if image]
        assert len(images) == len(WANTED)
        assert all(image.info["red"] == red_of(image.info["seed"]) == image.tobytes()[0] for image in images)


@pytest.mark.parametrize("batch", [1, 3, 7, 64])
def test_the_batch_size_changes_nothing(tmp_path: Path, batch: int) -> None:
    assert run(tmp_path / "a", batch=4) == run(tmp_path / "b", batch=batch)
    assert files(tmp_path / "a") == files(tmp_path / "b")


@pytest.mark.parametrize("lives", [0, 1, 17, 50])
def test_a_kill_loses_one_batch_and_changes_nothing(tmp_path: Path, lives: int) -> None:
    whole = SeedPainter()
    expected = run(tmp_path / "whole", painter=whole)
    first, second = SeedPainter(lives=lives), SeedPainter()
    with pytest.raises(Killed):
        run(tmp_path / "killed", painter=first)
    assert run(tmp_path / "killed", painter=second) == expected
    assert files(tmp_path / "killed") == files(tmp_path / "whole")
    assert len(first.asked) + len(second.asked) <= len(whole.asked) + 4
    third = SeedPainter()
    assert run(tmp_path / "killed", painter=third) == expected
    assert third.asked == []


def test_a_result_that_a_power_cut_spoiled_is_made_again(tmp_path: Path) -> None:
    expected = run(tmp_path)
    results, images = (sorted((tmp_path / "made").glob(f"*.{kind}")) for kind in ("json", "image"))
    results[0].write_bytes(b"")
    results[3].write_text('{"reason": ""}')  # of an earlier version, which kept no hash
    images[1].write_bytes(b"")
    images[2].unlink()
    again = SeedPainter()
    assert run(tmp_path, painter=again) == expected
    assert 1 <= len(again.asked) <= 4


def test_an_image_does_not_depend_on_what_else_is_wanted(tmp_path: Path) -> None:
    together = dict(run(tmp_path / "together")[0])
    alone = dict(run(tmp_path / "alone", wanted=WANTED[7:8])[0])
    assert alone["unit/7"] == together["unit/7"]


def test_another_generator_does_not_get_the_first_ones_images(tmp_path: Path) -> None:
    run(tmp_path)
    other = SeedPainter(name="other")
    run(tmp_path, painter=other)
    assert len(other.asked) > len(WANTED)


def test_a_refused_image_is_made_again_with_the_next_seed_that_passes_and_no_other_changes(tmp_path: Path) -> None:
    before, logged = run(tmp_path / "before")
    tools = Tools(generator=SeedPainter(), editor=SeedPainter())
    first = next(iter(make(BuildJob(None, tmp_path / "one", seed=3, tools=tools), WANTED[:1], judge, attempts=40)))[1]
    assert first is not None
    refused = json.dumps([["unit/0", first.info["seed"], [], [], ["refused"]]])
    job = BuildJob(None, tmp_path / "again", seed=3, tools=tools, options={"reviewed": refused})
    after = [(one.key, image.tobytes() if image else None) for one, image in make(job, WANTED, judge, attempts=40)]
    assert [one for one, other in zip(after, before, strict=True) if one != other] == [after[0]]
    assert after[0][1] is not None
    log = [json.loads(line) for line in job.take_rejected()]
    reasons = [line["reason"] for line in log if line["unit"] == "unit/0"]
    own = [line for line in map(json.loads, logged) if line["unit"] == "unit/0"]
    assert reasons[: len(own) + 1] == [*(line["reason"] for line in own), "refused by a person"]


def test_an_edit_depends_on_its_base(tmp_path: Path) -> None:
    black, blue = (jpeg(Images.new("RGB", (8, 8), colour)) for colour in ((0, 0, 0), (0, 0, 200)))
    first, _ = run(tmp_path, wanted=[Wanted("edit", "make it old", black)])
    second, _ = run(tmp_path, wanted=[Wanted("edit", "make it old", blue)])
    assert first[0][1] is not None
    assert second[0][1] is not None
    assert first != second


def test_without_a_generator_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="TOOL_MISSING at unit/0: no generator"):
        list(make(BuildJob(None, tmp_path), WANTED, judge))
    with pytest.raises(BuildError, match="TOOL_MISSING at e: no editor"):
        list(make(BuildJob(None, tmp_path), [Wanted("e", "make it old", jpeg(Images.new("RGB", (8, 8))))], judge))
    assert list(make(BuildJob(None, tmp_path), [], judge)) == []


def test_a_generator_that_returns_too_few_images_is_refused(tmp_path: Path) -> None:
    class Lazy(SeedPainter):
        def generate(self, prompts: Sequence[ImagePrompt]) -> list[Image]:
            return super().generate(prompts)[1:]

    with pytest.raises(BuildError, match=r"TOOL_OUTPUT at painter: 3 images"):
        run(tmp_path, painter=Lazy())


def test_seeds_differ_by_build_key_and_attempt() -> None:
    drawn = {seed(build, key, attempt) for build in range(5) for key in ("a", "b") for attempt in range(5)}
    assert len(drawn) == 50
    assert all(0 <= one < 2**32 for one in drawn)
    assert seed(0, "unit/0", 0) == 3_678_676_805


def test_a_jpeg_holds_pixels_and_nothing_else() -> None:
    image = Images.effect_noise((64, 64), 40).convert("RGB")
    plain = jpeg(image)
    image.info["comment"] = b"who made this"
    image.info["exif"] = b"Exif\x00\x00MM"
    assert jpeg(image) == plain
    with Images.open(BytesIO(plain)) as read:
        assert (read.size, read.mode) == ((64, 64), "RGB")


CANDIDATES = [Candidate(f"k{n}", f"cell{n % 3}", n) for n in range(50)]
ORDER = ("cell2", "cell0", "cell1")


def filled(seed: int) -> PlanStore:
    plan = PlanStore(seed)
    plan.add(CANDIDATES)
    return plan


def test_each_cell_gives_its_first_candidates_by_the_hash_of_seed_and_key() -> None:
    plan = filled(7)
    assert plan.counts() == {"cell0": 17, "cell1": 17, "cell2": 16}

    def rank(candidate: Candidate) -> bytes:
        return hashlib.sha256(f"7/{candidate.key}".encode()).digest()

    assert [tuple(chosen) for chosen in plan.select(4, ORDER)] == [
        (cell, place, candidate.key, candidate.data)
        for cell in ORDER
        for place, candidate in enumerate(sorted((c for c in CANDIDATES if c.cell == cell), key=rank)[:4])
    ]


def test_cells_may_have_limits_of_their_own() -> None:
    chosen = filled(0).select({"cell0": 2, "cell1": 99, "cell9": 3}, [*ORDER, "cell9"])
    assert [c.cell for c in chosen] == ["cell0"] * 2 + ["cell1"] * 17


def test_order_and_number_of_calls_change_nothing_and_the_seed_does() -> None:
    pieces = PlanStore(1)
    for candidate in reversed(CANDIDATES):
        pieces.add([candidate])
        pieces.add([candidate])
    assert filled(1).select(5, ORDER) == pieces.select(5, ORDER)
    assert filled(1).select(5, ORDER) != filled(2).select(5, ORDER)


def test_a_key_with_other_content_is_refused() -> None:
    plan = filled(1)
    with pytest.raises(ValueError, match="k1 stands in the plan"):
        plan.add([CANDIDATES[0], Candidate("k1", "cell9", 0)])
