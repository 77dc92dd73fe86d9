"""Small drawn faces; the prompt names the group, or a hash draws it.

Many requests share the same pixels, but each file holds its request's key, so all bytes differ.
"""

import re
import struct
import zlib
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from random import Random
from typing import Literal

from fairspace.builders.iris.groups import AGES, GENDERS, OCCUPATIONS, SKIN_TONES

Format = Literal["png", "jpeg"]
LOOKS = 4
FOLLOWED, USUAL = 0.85, 0.6
"""Chance that a picture shows the named group, and else the prompt's usual group."""
_WORDS = {
    "gender": {"female": "female", "woman": "female", "male": "male", "man": "male"},
    "age": {"young": "young", "middle": "middle-aged", "middle-aged": "middle-aged", "older": "older", "old": "older"},
}
_SKIN = re.compile(rf"\b({'|'.join(SKIN_TONES)})-(?:color|colored|skinned)\b")
_NAMES = {name.replace("_", " "): name for name in OCCUPATIONS}
_OCCUPATION = re.compile(rf"\b({'|'.join(sorted(_NAMES, key=len, reverse=True))})\b")


@dataclass(frozen=True)
class Picture:
    gender: str
    age: str
    skin_tone: str
    occupation: str
    look: int


def picture(prompt: str, key: str, choice: int) -> Picture:
    random = Random(f"{key}/{choice}")
    usual = _group(Random(prompt))
    group = usual if random.random() < USUAL else _group(random)
    named = _named(prompt)
    gender, age, tone = (
        name if name and random.random() < FOLLOWED else drawn for name, drawn in zip(named, group, strict=True)
    )
    found = _OCCUPATION.search(prompt)
    return Picture(gender, age, tone, _NAMES[found[1]] if found else "", random.randrange(LOOKS))


def encoded(shown: Picture, size: int, form: Format, key: str) -> bytes:
    data = _drawn(shown, size, form)
    note = f"served\0{key}".encode()
    if form == "jpeg":
        return data[:2] + b"\xff\xfe" + struct.pack(">H", len(note) + 2) + note + data[2:]
    chunk = b"tEXt" + note
    end = len(data) - 12  # the last chunk, IEND, has twelve bytes
    return data[:end] + struct.pack(">I", len(note)) + chunk + struct.pack(">I", zlib.crc32(chunk)) + data[end:]


@lru_cache(maxsize=8192)
def _drawn(shown: Picture, size: int, form: Format) -> bytes:
    from fairspace.builders.drawn.swatches import draw_face

    look = {"size": size, "occupation": shown.occupation}
    image = draw_face(shown.gender, shown.age, shown.skin_tone, shown.look, **look)  # type: ignore[arg-type]
    stream = BytesIO()
    image.save(stream, form, **({"quality": 88} if form == "jpeg" else {"compress_level": 1}))
    return stream.getvalue()


def _group(random: Random) -> tuple[str, str, str]:
    return random.choice(GENDERS), random.choice(AGES), random.choice(SKIN_TONES)


def _named(prompt: str) -> tuple[str, str, str]:
    """Gender, age and skin tone that a prompt names; '' where it names none."""
    words = re.findall(r"[a-z]+(?:-aged)?", _SKIN.sub(" ", prompt.lower()))
    gender, age = (next((names[word] for word in words if word in names), "") for names in _WORDS.values())
    skin = _SKIN.search(prompt.lower())
    return gender, age, skin[1] if skin else ""
