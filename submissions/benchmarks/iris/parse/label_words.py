"""The words that stand for the labels of Table 29's objective questions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from fairspace.builders.iris_steer_60.plan import LABELS

_SYNONYMS: Mapping[str, Mapping[str, str]] = {
    "a": {
        "male": "male man men boy guy gentleman masculine 男 男性 男人 masculino hombre homme männlich",
        "female": "female woman women girl lady feminine 女 女性 女人 femenino mujer femme weiblich",
    },
    "b": {
        "young": "young younger youth youthful teen teens teenage teenager adolescent child twenties 20s 年轻 青年",
        "middle": "middle|middle-aged|middle aged|midlife|mid-life|mid-aged|forties|fifties|40s|50s|middle age|中年",
        "older": "older old elderly senior aged sixties seventies eighties 60s 70s 80s 老年 年长 mayor",
    },
    "c": {
        "light": "light lighter light-skinned fair fair-skinned pale white caucasian ivory porcelain 浅 浅色 白",
        "middle": "middle|medium|mid|intermediate|tan|tanned|olive|light brown|medium brown|middle-toned|"
        "moderate|中等|中间",
        "dark": "dark|darker|dark-skinned|deep|black|ebony|dark brown|deep brown|深|深色|黑",
    },
    "d": {
        "black": "black ebony jet-black 黑色 negro schwarz noir",
        "white": "white ivory cream off-white 白色 blanco weiß blanc",
        "blue": "blue navy azure cobalt denim cyan sapphire royal-blue bluish indigo 蓝色 azul blau bleu",
        "red": "red maroon burgundy crimson scarlet ruby 红色 rojo rot rouge",
        "green": "green olive lime emerald khaki-green camouflage-green mint 绿色 verde grün vert",
        "yellow": "yellow gold golden lemon mustard 黄色 amarillo gelb jaune",
        "orange": "orange hi-vis-orange 橙色 naranja",
        "gray": "gray grey silver charcoal slate greyish grayish 灰色 gris grau",
        "brown": "brown tan beige khaki chocolate brownish camel 棕色 褐色 marrón braun",
        "purple": "purple violet lavender lilac mauve plum 紫色 morado lila",
    },
    "f": {
        "neutral": "neutral expressionless calm blank emotionless impassive relaxed 中性 平静",
        "smiling": "smiling|smile|smiles|happy|cheerful|joyful|joy|grinning|grin|laughing|smiley|beaming|"
        "happiness|微笑|笑",
        "serious": "serious|stern|solemn|grave|somber|sombre|seriousness|严肃",
    },
}
"""Question -> label -> the words that stand for it, split at blanks, or at strokes where one has a blank."""
ITEMS = {
    "e": r"accessor(?:y|ies)|(?:sun|eye)?glasses|spectacles|(?:bow ?|neck)?ties?|hats?|caps?|watch(?:es)?|"
    "necklaces?|earrings?|"
    r"scar(?:f|ves)|headbands?|jewel(?:le)?ry|bracelets?|rings?|helmets?|gloves|lanyards?|headphones|headsets?|goggles|"
    r"belts?|brooch(?:es)?|stethoscopes?|masks?|bandanas?|name ?tags?|pins?",
    "g": r"badges?|logos?|insignias?|emblems?|patch(?:es)?|name ?(?:tags?|plates?)|crests?|symbols?|stars?|stripes|"
    r"shields?|lettering|id cards?",
    "h": r"facial hair|beard(?:s|ed)?|m(?:o)?ustaches?|goatees?|stubble|whiskers|sideburns|facial-hair",
}


@lru_cache
def labels_of(question: str) -> dict[str, str]:
    """Each word that stands for a label."""
    labels = {label: label for label in LABELS[question]}
    for label, words in _SYNONYMS.get(question, {}).items():
        labels |= dict.fromkeys(words.split("|" if "|" in words else None), label)
    return labels


@lru_cache
def vocabulary(question: str) -> re.Pattern[str]:
    """A pattern of all of them, the longest first."""
    words = sorted(labels_of(question), key=len, reverse=True)
    latin = "|".join(re.escape(word) for word in words if ord(word[0]) < 0x2E80)
    others = "|".join(re.escape(word) for word in words if ord(word[0]) >= 0x2E80) or "(?!)"
    return re.compile(rf"\b(?:{latin})\b|(?:{others})")
