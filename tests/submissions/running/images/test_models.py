import io
import struct
import zlib
from pathlib import Path

import pytest
from PIL import Image as Images

from fairspace.ares.fates_ares import ImageLimits
from fairspace.builders.engine.tools import ImagePrompt
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.images import made as image_made
from fairspace.submissions.running.images.made import checked, extension
from fairspace.submissions.running.images.models import CallableImages, EndpointImages, open_image_model
from tests.submissions.running.images import painter as images_painter
from tests.submissions.running.images.painter import encoded, picture

FILE = images_painter.FILE
PROMPTS = [ImagePrompt("JPEG", 1), ImagePrompt("PNG", 2)]
IMAGE = picture(PROMPTS[0], 32)


def bomb(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress(bytes(10_000_000), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def animated() -> bytes:
    stream = io.BytesIO()
    IMAGE.save(stream, "WEBP", save_all=True, append_images=[picture(PROMPTS[1], 32)])
    return stream.getvalue()


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_encoded_images_stay_as_they_are(form: str) -> None:
    data = encoded(IMAGE, form)
    made = checked(data)
    assert (made.image, made.fate, made.reason) == (data, "answered", "")
    assert extension(data) == {"PNG": "png", "JPEG": "jpg", "WEBP": "webp"}[form]


@pytest.mark.parametrize("form", ["GIF", "BMP"])
def test_other_formats_become_png(form: str) -> None:
    made = checked(encoded(IMAGE, form))
    assert made.image is not None
    with Images.open(io.BytesIO(made.image)) as image:
        assert (image.format, image.mode, image.size) == ("PNG", "RGB", (32, 32))


def test_a_picture_becomes_the_same_png_whatever_is_attached_to_it() -> None:
    plain = checked(IMAGE).image
    dressed = IMAGE.copy()
    dressed.info.update({"dpi": (300, 300), "icc_profile": b"profile", "comment": "by me"})
    assert checked(dressed).image == plain
    assert dressed.info["comment"] == "by me"
    assert plain is not None
    with Images.open(io.BytesIO(plain)) as image:
        assert image.info == {}
        assert image.tobytes() == IMAGE.tobytes()
    assert checked(IMAGE.convert("RGBA")).image == plain


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (bomb(60_000, 60_000), "too_many_pixels"),
        (bomb(9_000, 9_000), "too_many_pixels"),
        (bomb(4, 4), "too_small"),
        (encoded(IMAGE, "half"), "truncated"),
        (encoded(IMAGE, "text"), "not_an_image"),
        (b"", "zero_bytes"),
        (animated(), "several frames"),
        (b"\x89PNG\r\n\x1a\n" + bytes(image_made.LIMITS.bytes), "too_many_bytes"),
    ],
)
def test_what_is_no_usable_image_has_failed_and_says_why(data: bytes, why: str) -> None:
    made = checked(data)
    assert (made.image, made.fate) == (None, "failed")
    assert why in made.reason
    assert len(made.reason) <= 300


def test_a_reason_is_one_line_of_text_that_can_be_written_and_steers_no_terminal() -> None:
    made = image_made.failed("half a pair: \ud800\n  and\tmore")
    assert made.reason == "half a pair: ? and more"
    assert image_made.failed("a\x1b[2Jb\x07\u202ec\n\ud800d").reason == "a [2Jb c ?d"
    assert image_made.refused(" ").reason == "not said"


def test_a_picture_that_is_too_large_as_png_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_made, "LIMITS", ImageLimits(bytes=1000))
    assert "as PNG; the limit is 1000" in checked(IMAGE).reason


def test_a_function_of_a_file_makes_images() -> None:
    model = open_image_model(f"python:{FILE}:paint?batch=2")
    assert isinstance(model, CallableImages)
    assert (model.engine, model.batch, model.concurrency) == ("callable", 2, 1)
    assert model.name == "painter:paint"
    assert model.revision.startswith("sha256 ")
    assert model.engine_version.startswith("python 3")
    assert model.settings() == {"strokes": 3, "batch": 2}
    made = model.make([ImagePrompt("paint", 1), ImagePrompt("refuse", 2)])
    assert [one.fate for one in made] == ["answered", "refused"]
    assert made[0].image == checked(picture(ImagePrompt("", 1))).image
    assert [one.fate for one in model.make([ImagePrompt("paint", 1), ImagePrompt("fail", 2)])] == ["failed", "failed"]


def test_a_function_of_a_module_has_the_name_and_revision_that_the_user_gives() -> None:
    what = "tests.submissions.running.images.painter:encode"
    model = open_image_model(f"python:{what}")
    assert (model.name, model.revision, model.settings()) == (what, "not stated", {"batch": 1})
    named = open_image_model(f"python:{what}?name=Painter+7B&revision=2026-05-01")
    assert (named.name, named.revision) == ("Painter 7B", "2026-05-01")
    made = model.make([ImagePrompt("JPEG", 1), ImagePrompt("half", 1), ImagePrompt("text", 1)])
    assert [one.fate for one in made] == ["answered", "failed", "failed"]
    assert "truncated" in made[1].reason


@pytest.mark.parametrize(
    ("function", "what"),
    [
        ("few", "list of 1 for 2 prompts"),
        ("paths", "an element of type str"),
        ("endless", "generator for 2 prompts"),
    ],
)
def test_wrong_results_of_a_function_stop_the_run(function: str, what: str) -> None:
    with pytest.raises(RunError, match=f"MODEL_OUTPUT at painter:{function}: {what}"):
        open_image_model(f"python:{FILE}:{function}").make(PROMPTS)


@pytest.mark.parametrize(
    ("named", "what"),
    [
        ("pyton:x:y", "no scheme 'pyton'.*did you mean 'python'"),
        ("python:", "nothing behind the scheme"),
        ("python:function", "no function is named"),
        ("python:nowhere_to_be_found:paint", "ModuleNotFoundError"),
        ("python:./nowhere.py:paint", "No such file"),
        (f"python:{FILE}:nothing", "no function 'nothing'"),
        (f"python:{FILE}:FILE", "no function 'FILE'"),
        (f"python:{FILE}:paint?batch=0", "a batch below 1"),
        (f"python:{FILE}:paint?steps=3", "no setting 'steps'"),
        ("endpoint:https://example.org/v1", "no address, no model"),
        ("endpoint:#model", "no address, no model"),
        ("endpoint:ftp://example.org#model", "no address, no model"),
        ("endpoint:https://me:secret@example.org/v1#model", "a password in the address"),
        ("endpoint:https://example.org/v1#model?concurrency=0", "concurrency=0"),
        ("endpoint:https://example.org/v1#model?attempts=x", "attempts=x"),
        ("endpoint:https://example.org/v1#model?key=NO_SUCH_VARIABLE", "key=NO_SUCH_VARIABLE, which is not set"),
        ("diffusers:./nowhere", "no such folder"),
        ("diffusers:./nowhere?batch=0", "batch=0"),
    ],
)
def test_a_name_that_cannot_be_opened_says_why(named: str, what: str) -> None:
    with pytest.raises(RunError, match=f"MODEL_UNKNOWN at .*{what}"):
        open_image_model(named)


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("def paint(prompts): ...\npaint.settings = {'model': object}", "the attribute `settings`"),
    ],
)
def test_a_file_is_imported_and_its_settings_are_plain_values(code: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "odd_painter.py").write_text(code)
    with pytest.raises(RunError, match=f"MODEL_UNKNOWN.*{what}"):
        open_image_model(f"python:{tmp_path}/odd_painter.py:paint").settings()


def test_an_endpoint_is_opened_without_a_request() -> None:
    model = open_image_model(
        "endpoint:https://example.org/v1?a=b#org/model?size=512&quality=low&seed=true&concurrency=3"
    )
    assert isinstance(model, EndpointImages)
    assert (model.url, model.name, model.revision) == ("https://example.org/v1?a=b", "org/model", "not stated")
    assert (model.engine, model.batch, model.concurrency) == ("openai", 1, 3)
    assert model.settings() == {"host": "example.org", "size": "512x512", "quality": "low", "seeded": "asked"}
