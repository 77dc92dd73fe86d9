"""Small made-up copies of FairFace, UTKFace and MST-E, and tools that see the prompt's group."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from fairspace.builders.engine.tools import ImagePrompt, Labels, PersonBox, Picture
from fairspace.builders.iris.groups import GROUPS
from tests.ares.hostile import encoded

RACES = ("White", "Black", "Latino_Hispanic", "East Asian", "Southeast Asian", "Indian", "Middle Eastern")
RED = 14
"""A group's number times this is the red of its painted picture."""
BUCKETS = ("20-29", "40-49", "60-69", "more than 70", "3-9")


def jpeg(key: str, size: int = 8) -> bytes:
    random = np.random.RandomState(list(hashlib.sha256(key.encode()).digest()))
    return encoded(Image.fromarray(random.randint(0, 255, (size, size, 3), np.uint8)), "JPEG")


def write_fairface(folder: Path, faces: int = 210, *, old: int = 7) -> None:
    """Faces of every bucket, gender and race; `old` is the number over 70."""
    lines: dict[str, list[str]] = {"train": [], "val": []}
    olds = 0
    for number in range(faces):
        split = "val" if number % 10 == 0 else "train"
        bucket = BUCKETS[number // 2 % len(BUCKETS)]
        olds += bucket == "more than 70"
        if bucket == "more than 70" and olds > old:
            bucket = "60-69"
        file = f"{split}/{number}.jpg"
        (folder / split).mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(jpeg(f"fairface/{number}"))
        lines[split].append(f"{file},{bucket},{('Female', 'Male')[number % 2]},{RACES[number // 2 % 7]},False")
    for split, rows in lines.items():
        (folder / f"fairface_label_{split}.csv").write_text("\n".join(["file,age,gender,race,service_test", *rows, ""]))


def write_utkface(folder: Path, ages: Sequence[int], each: int, content: Callable[[str], bytes] = jpeg) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    names = (f"{a}_{g}_{r}_{n:017d}.jpg.chip.jpg" for a in ages for g in (0, 1) for r in range(4) for n in range(each))
    for name in names:
        (folder / name).write_bytes(content(name))


def write_mst_e(folder: Path, subjects: int = 20, each: int = 3) -> None:
    """`each` images of some subjects with Monk's tones in turn."""
    lines = ["image_ID,subject_name,MST,pose,lighting,mask"]
    for subject in range(subjects):
        (folder / f"subject_{subject}").mkdir(parents=True, exist_ok=True)
        for number in range(each):
            (folder / f"subject_{subject}/{number}.jpg").write_bytes(jpeg(f"mst_e/{subject}/{number}"))
            lines.append(f"{number}.jpg,subject_{subject},{subject % 10 + 1},frontal,well_lit,0")
        lines.append(f"clip.mp4,subject_{subject},{subject % 10 + 1},frontal,well_lit,0")
    (folder / "mst-e_image_details.csv").write_text("\n".join(lines) + "\n")


def group_of(prompt: str) -> int:
    words = prompt.partition(" face of a")[2].split()
    age, gender, tone = words[words[0] == "n" :][:3]
    return GROUPS.index(f"{gender}_{age}_{tone.removesuffix('-colored')}")


class Painter:
    """Paints a prompt's group as a colour; one seed in five shows another group, others two faces."""

    name = "painter"

    def generate(self, prompts: Sequence[ImagePrompt]) -> list[Image.Image]:
        return [self._paint(prompt) for prompt in prompts]

    def _paint(self, prompt: ImagePrompt) -> Image.Image:
        if " face of a" not in prompt.text:
            return Image.new("RGB", (8, 8), (0, 0, 250 if prompt.seed % 4 == 0 else 0))
        group = (group_of(prompt.text) + (prompt.seed % 5 == 0)) % len(GROUPS)
        hidden = 255 if "incomplete" in prompt.text else 0
        return Image.new("RGB", (8, 8), (RED * group, hidden, prompt.seed % 7))


class Reader:
    """Reads the labels painted by `Painter`; of an incomplete face only the skin tone."""

    name = "reader"

    def label(self, images: Sequence[Image.Image]) -> list[Labels]:
        return [self._read(image.tobytes()) for image in images]

    def _read(self, pixel: bytes) -> Labels:
        gender, age, tone = GROUPS[pixel[0] // RED].split("_")
        if pixel[2] == 6:
            return Labels(reason="several faces")
        return Labels("", "", tone, "unsure") if pixel[1] else Labels(gender, age, tone)


class Watcher:
    """Finds a person in pictures of `Painter` with some blue."""

    name = "watcher"

    def detect(self, pictures: Sequence[Picture]) -> list[list[PersonBox]]:
        found = (picture.open().tobytes()[2] > 100 for picture in pictures)
        return [[PersonBox(0, 0, 8, 8, 0.9)] if person else [] for person in found]
