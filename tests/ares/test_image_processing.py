import os
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image, ImageFile

from fairspace.ares.fates_ares import NOTES, REASONS, ImageLimits
from fairspace.ares.image_processing_ares import AresImageProcessor
from fairspace.ares.reading_ares import quiet, read_image
from tests.ares.hostile import READABLE, SIZE, UNREADABLE, directory, encoded, exif, portrait, with_exif

EXACT = ("PNG", "BMP", "TIFF", "WEBP", "turned", "16 bits of colour", "animated PNG", "animated WEBP", "pages")


@pytest.fixture(scope="module")
def processor() -> AresImageProcessor:
    return AresImageProcessor(image_size=SIZE)


@pytest.mark.parametrize("kind", UNREADABLE)
def test_each_unreadable_image_has_its_own_reason(kind: str, processor: AresImageProcessor) -> None:
    make, reason = UNREADABLE[kind]
    out = processor([portrait(), make(), portrait()])
    assert [fate.status for fate in out["fates"]] == ["ok", "unreadable", "ok"]
    assert out["fates"][1].reason == reason
    assert out["fates"][1].detail
    assert out["pixel_values"].shape == (2, 3, SIZE, SIZE)


@pytest.mark.parametrize("kind", READABLE)
def test_every_readable_kind_is_noted_and_shows_the_same_face(kind: str, processor: AresImageProcessor) -> None:
    make, notes = READABLE[kind]
    out = processor(make())
    (fate,) = out["fates"]
    assert (fate.status, fate.notes) == ("ok", notes), fate
    shown = {"grey": "L", "16 bits of grey": "L", "black and white": "1"}.get(kind, "RGB")
    whole = Image.new("RGB", (SIZE, SIZE), "white") if kind == "alpha" else portrait(mode=shown).convert("RGB")
    expected = processor(whole)["pixel_values"]
    apart = (out["pixel_values"] - expected).abs()
    assert apart.max() == 0 if kind in EXACT else apart.mean() < 0.03


def test_words_are_documented() -> None:
    words = {reason for _, reason in UNREADABLE.values()}
    notes = {note for _, found in READABLE.values() for note in found}
    assert words <= set(REASONS)
    assert notes <= set(NOTES)


def test_bombs_are_refused_before_a_pixel_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(image: Any) -> None:
        raise AssertionError("decoded")

    monkeypatch.setattr(ImageFile.ImageFile, "load", fail)
    bombs = [make() for make, reason in UNREADABLE.values() if reason == "too_many_pixels"]
    with quiet():
        fates = [read_image(bomb, ImageLimits(), 64)[1] for bomb in bombs]
    assert [(fate.reason, fate.width * fate.height >= 0) for fate in fates] == [("too_many_pixels", True)] * 3


def test_limits_are_those_of_the_configuration(tmp_path: Path) -> None:
    data = encoded(portrait(), "PNG")
    (tmp_path / "face.png").write_bytes(data)
    tight = AresImageProcessor(image_size=SIZE, max_bytes=len(data) - 1)
    assert [fate.reason for fate in tight([data, tmp_path / "face.png"])["fates"]] == ["too_many_bytes"] * 2
    few = AresImageProcessor(image_size=SIZE, max_pixels=SIZE * SIZE - 1)
    images = [data, portrait(), np.asarray(portrait())]
    assert [fate.reason for fate in few(images)["fates"]] == ["too_many_pixels"] * 3
    assert few(images)["pixel_values"].shape == (0, 3, SIZE, SIZE)


def test_all_kinds_of_input_give_the_same_pixels(tmp_path: Path, processor: AresImageProcessor) -> None:
    image, data = portrait(), encoded(portrait(), "PNG")
    (tmp_path / "face.png").write_bytes(data)
    array = np.asarray(image)
    kinds = [
        image,
        data,
        bytearray(data),
        tmp_path / "face.png",
        str(tmp_path / "face.png"),
        {"bytes": data, "path": None},
        {"bytes": None, "path": str(tmp_path / "face.png")},
        array,
        array.astype(np.int64),
        array.astype(np.uint16) * 257,
        array.astype(np.float32) / 255,
        np.moveaxis(array, 2, 0),
        torch.from_numpy(array.copy()),
        np.concatenate([array, np.full((SIZE, SIZE, 1), 255, np.uint8)], axis=2),
    ]
    out = processor(kinds)
    assert {fate.status for fate in out["fates"]} == {"ok"}
    assert all(torch.equal(pixels, out["pixel_values"][0]) for pixels in out["pixel_values"])
    assert out["pixel_values"].dtype == torch.float32
    assert out["pixel_values"].min() >= 0
    assert out["pixel_values"].max() <= 1
    assert torch.equal(processor(np.stack([array, array]))["pixel_values"], out["pixel_values"][:2])
    assert torch.equal(processor(image)["pixel_values"], out["pixel_values"][:1])


def test_what_is_no_image_is_told_from_a_bad_one(tmp_path: Path, processor: AresImageProcessor) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    given: list[tuple[Any, str, str]] = [
        (None, "refused", "no_image"),
        ({"bytes": None, "path": None}, "refused", "no_image"),
        (tmp_path / "nowhere.png", "unreadable", "no_file"),
        (tmp_path, "unreadable", "no_file"),
        (tmp_path / "pipe.png", "unreadable", "no_file"),
        ("a\0b.png", "unreadable", "no_file"),
        (7, "unreadable", "unknown_input"),
        ({"bytes": "text", "path": None}, "unreadable", "unknown_input"),
        (np.zeros((SIZE, SIZE, 7), np.uint8), "unreadable", "unknown_input"),
        (np.full((SIZE, SIZE, 3), np.nan), "unreadable", "unknown_pixels"),
        (np.full((SIZE, SIZE, 3), 3.0), "unreadable", "unknown_pixels"),
        (np.full((SIZE, SIZE, 3), -1), "unreadable", "unknown_pixels"),
        (np.zeros((0, 4, 3), np.uint8), "unreadable", "too_small"),
        ({"bytes": encoded(portrait(), "PNG"), "path": "", "sha256": "0" * 64}, "unreadable", "hash_differs"),
    ]
    fates = processor([image for image, *_ in given])["fates"]
    assert [(fate.status, fate.reason) for fate in fates] == [(status, reason) for _, status, reason in given]


def test_a_lying_extension_is_noted_and_believed_by_nobody(tmp_path: Path, processor: AresImageProcessor) -> None:
    (tmp_path / "face.png").write_bytes(encoded(portrait(), "JPEG"))
    (tmp_path / "face.jpg").write_bytes(b"not an image")
    (tmp_path / "FACE.JPEG").write_bytes(encoded(portrait(), "JPEG"))
    fates = processor([tmp_path / "face.png", tmp_path / "face.jpg", tmp_path / "FACE.JPEG"])["fates"]
    assert [fate.notes for fate in fates] == [("extension_differs",), (), ()]
    assert [fate.format for fate in fates] == ["JPEG", "", "JPEG"]
    assert fates[1].reason == "not_an_image"


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_orientation_is_put_upright(orientation: int, processor: AresImageProcessor) -> None:
    inverse = {
        1: None,
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }[orientation]
    stored = portrait() if inverse is None else portrait().transpose(inverse)
    out = processor([encoded(stored, "PNG", exif=exif(orientation)), portrait()])
    assert torch.equal(*out["pixel_values"])


def test_broken_exif_data_do_not_cost_the_image(processor: AresImageProcessor) -> None:
    data = encoded(portrait(), "JPEG", exif=b"Exif\0\0II*\0\xff\xff\xff\xff" + bytes(20))
    (fate,) = processor(data)["fates"]
    assert fate.status == "ok"


@pytest.mark.parametrize("form", ["PNG", "WEBP"])
def test_exif_data_whose_tags_share_their_bytes_are_left_aside(form: str, processor: AresImageProcessor) -> None:
    data = with_exif(form, directory(1000, 1 << 20))
    tracemalloc.start()
    (fate,) = processor(data)["fates"]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (fate.status, fate.notes) == ("ok", ("exif_broken",))
    assert peak < 50 << 20, "a megabyte is no gigabyte"


def test_no_damage_to_any_format_raises(processor: AresImageProcessor) -> None:
    random = np.random.RandomState(0)
    damaged: list[bytes] = []
    for make, _ in READABLE.values():
        data = make()
        for _ in range(12):
            broken = bytearray(data[: random.randint(1, len(data) + 1)] if random.rand() < 0.4 else data)
            for place in random.randint(0, len(broken), random.randint(1, 6)):
                broken[place] = random.randint(0, 256)
            damaged.append(bytes(broken))
    fates = processor(damaged)["fates"]
    assert len(fates) == len(damaged)
    assert {fate.reason for fate in fates if fate.status != "ok"} <= set(REASONS)
    assert list(processor(damaged)["fates"]) == fates


def test_warnings_and_a_truncation_setting_of_the_process_change_nothing(
    processor: AresImageProcessor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    bomb, half = UNREADABLE["small bomb"][0](), UNREADABLE["half a JPEG"][0]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fates = processor([bomb, half, READABLE["palette"][0]()])["fates"]
    assert [fate.reason for fate in fates] == ["too_many_pixels", "truncated", ""]
    assert ImageFile.LOAD_TRUNCATED_IMAGES
