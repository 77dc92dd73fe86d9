import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from fairspace.builders.engine.build import build
from fairspace.builders.engine.dataset import BuildManifest
from fairspace.builders.engine.tools import Labels, Tools
from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import AGES, GROUPS
from fairspace.builders.iris_classifier_25.dataset import DATASET, Plan, age_group, split_of
from fairspace.builders.iris_classifier_25.plan import CLASSES, SAMPLE_PER_CLASS, SHARES, TARGETS, quotas
from fairspace.builders.iris_ideal_52.dataset import CellPlace
from tests.builders.builds import Built, Killed, SeedPainter, rows
from tests.builders.face_fixtures import Painter, Reader, group_of, jpeg, write_fairface, write_mst_e, write_utkface


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    write_fairface(folder / "fairface", 120)
    write_utkface(folder / "utkface", (20, 40, 65), 1)
    (folder / "utkface/61_1_20170109142408075.jpg").write_bytes(jpeg("malformed"))
    (folder / "utkface/30_0_0_00000000000000099.jpg").write_bytes(jpeg("fairface/1"))
    write_mst_e(folder / "mst_e", 10, 2)
    return folder


def tools() -> Tools:
    return Tools(generator=Painter(), labeller=Reader())


def make(folder: Path, source: Path | None, **more: Any) -> BuildManifest:
    return build(DATASET, folder, source=source, sample=True, **{"tools": tools(), **more})


@pytest.fixture(scope="module")
def built(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("built")
    return folder, make(folder, sources, options={"include": "mst_e"})


def test_the_full_sizes_are_the_papers_and_every_class_has_its_share() -> None:
    for config, total in TARGETS.items():
        found = quotas(config, sample=False)
        assert sum(sum(names.values()) for names in found.values()) == total
        for split, share in SHARES.items():
            sizes = found[split].values()
            assert max(sizes) - min(sizes) <= 1
            assert sum(sizes) == pytest.approx(total * share / 100, abs=10)
    assert TARGETS == {"age_gender": 170_000, "skin_tone": 80_000}


def test_every_class_has_its_quota_in_every_split(built: Built) -> None:
    _, manifest = built
    for config in TARGETS:
        planned = quotas(config, sample=True)
        for split, names in planned.items():
            found = manifest.find(config, split)
            assert found is not None
            assert found.counts[config] == names
        assert sum(sum(names.values()) for names in planned.values()) == SAMPLE_PER_CLASS * len(CLASSES[config])


def test_race_is_fairfaces_alone_and_balanced(built: Built) -> None:
    folder, manifest = built
    for split in manifest.configs()["race"]:
        assert set(split.counts["race"]) == set(CLASSES["race"])
        assert len(set(split.counts["race"].values())) == 1
    assert {row["origin"] for row in rows(folder, "race")} == {"fairface"}


def test_labels_are_those_of_the_class_and_real_faces_have_no_invented_tone(built: Built) -> None:
    folder, _ = built
    for row in rows(folder, "age_gender"):
        assert row["age_gender"] == f"{row['gender']}_{row['age']}"
        assert (row["skin_tone"] is None) == (row["source_file"] is not None)
    for row in rows(folder, "skin_tone"):
        assert (row["gender"] is None) == (row["origin"] == "mst_e")


def test_ages_that_straddle_65_are_left_out(built: Built, sources: Path) -> None:
    folder, manifest = built
    buckets = {}
    for split in ("train", "val"):
        for line in (sources / f"fairface/fairface_label_{split}.csv").read_text().splitlines()[1:]:
            file, age, *_ = line.split(",")
            buckets[file] = age
    used = {buckets[row["source_file"]] for row in rows(folder, "age_gender") if row["origin"] == "fairface"}
    assert used == {"20-29", "40-49", "more than 70", "3-9"}
    assert any("60-69" in note for note in manifest.notes)
    assert [age_group(years) for years in (0, 39, 40, 64, 65, 116)] == [AGES[n] for n in (0, 0, 1, 1, 2, 2)]


def test_no_file_person_or_equal_copy_is_in_two_splits(built: Built) -> None:
    folder, manifest = built
    splits: dict[str, set[str]] = {}
    for built_split in manifest.splits:
        for row in rows(folder, built_split.config, built_split.split):
            if row["source_file"]:
                splits.setdefault(row["source_sha256"], set()).add(built_split.split)
                if row["origin"] == "mst_e":
                    splits.setdefault(row["source_file"].partition("/")[0], set()).add(built_split.split)
    assert len(splits) > 100
    assert all(len(found) == 1 for found in splits.values())
    assert any("bytes of an earlier file" in note for note in manifest.notes)
    drawn = Counter(split_of(0, str(number)) for number in range(20_000))
    assert {split: round(n / 200) for split, n in drawn.items()} == SHARES


def test_exactly_a_tenth_of_the_synthetic_images_is_adversarial(built: Built) -> None:
    folder, _ = built
    for config in TARGETS:
        synthetic = [row for row in rows(folder, config) if row["source_file"] is None]
        adversarial = [row for row in synthetic if row["adversarial"]]
        assert len(synthetic) > 20
        assert len(adversarial) == len(synthetic) // 10
        assert all(("incomplete face" in row["prompt"]) == row["adversarial"] for row in synthetic)
    assert not any(row["adversarial"] for row in rows(folder, "age_gender") if row["source_file"])


@pytest.mark.parametrize("config", TARGETS)
def test_attributes_that_are_not_the_class_are_balanced_and_so_are_adversarial_images(config: str) -> None:
    wanted = {
        f"{config}/{s}/{name}": n for s, names in quotas(config, sample=False).items() for name, n in names.items()
    }
    plan = Plan(config, dict.fromkeys(wanted, 0), wanted)
    every, adversarial = Counter[str](), Counter[str]()
    for cell, size in wanted.items():
        inside = Counter[str]()
        for number in range(size):
            place = CellPlace(cell, number)
            labels = "_".join(plan.labels(place).values())
            inside[labels] += 1
            adversarial[labels] += plan.adversarial(place)
        assert max(inside.values()) - min(inside.values()) <= 1
        every += inside
    assert set(every) == set(adversarial) == set(GROUPS)
    assert max(every.values()) - min(every.values()) <= 6
    assert sum(adversarial.values()) == TARGETS[config] // 10
    assert max(adversarial.values()) / min(adversarial.values()) < 1.02


def test_synthetic_images_show_what_their_labels_say_and_the_rejected_are_logged(
    built: Built,
) -> None:
    folder, manifest = built
    for row in rows(folder, "age_gender"):
        if row["source_file"] is None:
            assert GROUPS[group_of(row["prompt"])] == f"{row['gender']}_{row['age']}_{row['skin_tone']}"
            assert row["generator"] == "painter"
            assert row["seed"] % 7 != 6
            assert row["adversarial"] or row["seed"] % 5
    assert {"several faces", "other skin tone than asked"} <= set(manifest.rejected)
    lines = [json.loads(line) for line in (folder / "review/rejected.jsonl").read_text().splitlines()]
    assert {"unit", "reason", "attempt"} <= lines[0].keys()


def test_real_images_are_the_sources_own_bytes(built: Built, sources: Path) -> None:
    folder, _ = built
    origins = Counter[str]()
    for config in CLASSES:
        for row in rows(folder, config):
            if row["source_file"]:
                data = (sources / row["origin"] / row["source_file"]).read_bytes()
                assert row["image"]["bytes"] == data
                assert row["source_sha256"] == hashlib.sha256(data).hexdigest()
                origins[row["origin"]] += 1
    assert set(origins) == {"fairface", "utkface", "mst_e"}


def test_mst_e_is_left_out_unless_asked_for(sources: Path, tmp_path: Path) -> None:
    manifest = make(tmp_path / "out", sources)
    assert all(row["origin"] != "mst_e" for row in rows(tmp_path / "out", "skin_tone"))
    assert any("MST-E" in note and "not asked for" in note for note in manifest.notes)
    with pytest.raises(BuildError, match=r"--include.*mste"):
        make(tmp_path / "typo", sources, options={"include": "mste"})


def test_without_tools_real_faces_are_built_and_the_rest_is_noted(sources: Path, tmp_path: Path) -> None:
    manifest = make(tmp_path, sources, tools=Tools())
    assert any("no generator and no labeller" in note for note in manifest.notes)
    assert all(row["source_file"] for row in rows(tmp_path, "age_gender"))
    assert manifest.find("skin_tone", "train") is None


def test_without_sources_all_is_synthetic_and_without_tools_too_nothing_is_built(tmp_path: Path) -> None:
    manifest = make(tmp_path / "out", None)
    assert all(row["source_file"] is None for row in rows(tmp_path / "out", "age_gender"))
    assert any("FairFace" in note for note in manifest.notes)
    assert any("UTKFace" in note for note in manifest.notes)
    assert set(manifest.configs()) == set(TARGETS)
    with pytest.raises(BuildError, match=r"SOURCE_MISSING.*nothing can be built"):
        make(tmp_path / "nothing", None, tools=Tools())


def test_a_generator_that_cannot_do_a_class_is_refused_at_the_end(tmp_path: Path) -> None:
    class Stubborn(Reader):
        def label(self, images: Sequence[Image.Image]) -> list[Labels]:
            return [replace(x, gender="male") if x.age == "young" else x for x in super().label(images)]

    with pytest.raises(BuildError, match=r"BUILD_CHECK.*2 images of female_young"):
        make(tmp_path, None, tools=Tools(generator=Painter(), labeller=Stubborn()))


def test_a_file_that_is_no_image_is_refused(tmp_path: Path) -> None:
    write_utkface(tmp_path / "sources/utkface", (20,), 1)
    file = next((tmp_path / "sources/utkface").iterdir())
    file.write_bytes(b"no image")
    with pytest.raises(BuildError, match=rf"SOURCE_IMAGE.*{file.name}"):
        make(tmp_path / "out", tmp_path / "sources", tools=Tools())


def test_a_file_that_changed_after_the_plan_is_refused(sources: Path, tmp_path: Path) -> None:
    source = tmp_path / "sources"
    write_utkface(source / "utkface", (20, 40, 65), 1)
    with pytest.raises(Killed):
        make(tmp_path / "out", source, tools=Tools(generator=SeedPainter(lives=0), labeller=Reader()))
    for number, file in enumerate((source / "utkface").iterdir()):
        file.write_bytes(jpeg(f"changed {number}"))
    with pytest.raises(BuildError, match=r"SOURCE_IMAGE.*another file"):
        make(tmp_path / "out", source)
