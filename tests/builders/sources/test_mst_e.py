from pathlib import Path

import pytest

from fairspace.builders.sources import faces
from tests.builders.sources.refusals import TEXT_FILES, Refusal, refuses, replaced

GOOD = """image_ID,subject_name,MST,pose,lighting,mask
IMG_1.jpg,subject_5,7,frontal,well_lit,0
clip.mp4,subject_5,7,video,,
IMG_2.JPEG,subject_12,10,side,poorly_lit,1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / faces.DETAILS).write_text(GOOD)
    return tmp_path


def test_images_are_read_with_the_groups_of_iris_and_videos_left_out(folder: Path) -> None:
    assert list(faces.images(folder)) == [
        faces.MstImage("subject_5/IMG_1.jpg", "subject_5", "middle"),
        faces.MstImage("subject_12/IMG_2.JPEG", "subject_12", "dark"),
    ]
    header, row, *_ = GOOD.splitlines()
    (folder / faces.DETAILS).write_text("\n".join([header, *(row.replace("_5,7", f"_5,{n}") for n in range(1, 11))]))
    tones = [image.skin_tone for image in faces.images(folder)]
    assert tones == ["light"] * 3 + ["middle"] * 4 + ["dark"] * 3


REFUSALS = (
    *TEXT_FILES,
    Refusal("missing column", replaced("MST", "tone"), "SOURCE_LAYOUT", ":1", "no column MST"),
    Refusal("tone", replaced("_5,7", "_5,11"), "SOURCE_VALUE", ":2", "the MST '11'"),
    Refusal("no tone", replaced("_5,7", "_5,"), "SOURCE_VALUE", ":2", "the MST ''"),
    Refusal("fraction", replaced("_5,7", "_5,7.0"), "SOURCE_VALUE", ":2", "the MST '7.0'"),
    Refusal("ending", replaced("IMG_1.jpg", "IMG_1"), "SOURCE_VALUE", ":2", "the image_ID 'IMG_1'"),
    Refusal("no subject", replaced("subject_5", ""), "SOURCE_VALUE", ":2", "the file name ''"),
    Refusal("path", replaced("IMG_1", "../IMG_1"), "SOURCE_VALUE", ":2", "subject_5/../IMG_1.jpg"),
)


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda r: r.name)
def test_a_file_that_breaks_the_layout_is_refused(folder: Path, refusal: Refusal) -> None:
    refuses(lambda: list(faces.images(folder)), refusal, folder / faces.DETAILS)
