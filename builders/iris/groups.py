"""IRIS' attributes, groups and occupations (A.2.1, Table 20), shared by its four datasets and its scorer."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

OCCUPATIONS = (
    *("astronaut", "backpacker", "ballplayer", "bartender", "basketball_player", "boatman", "carpenter"),
    *("cheerleader", "climber", "computer_user", "craftsman", "dancer", "disk_jockey", "doctor", "drummer"),
    *("electrician", "farmer", "fireman", "flutist", "gardener", "guard", "guitarist", "gymnast", "hairdresser"),
    *("horseman", "judge", "laborer", "lawman", "lifeguard", "machinist", "motorcyclist", "nurse", "painter"),
    *("patient", "prayer", "referee", "repairman", "reporter", "retailer", "runner", "sculptor", "seller"),
    *("singer", "skateboarder", "soccer_player", "soldier", "speaker", "student", "teacher", "tennis_player"),
    *("trumpeter", "waiter"),
)
"""Table 20."""

GENDERS = ("female", "male")
AGES = ("young", "middle-aged", "older")
SKIN_TONES = ("light", "middle", "dark")
LABELS = {"gender": GENDERS, "age": AGES, "skin_tone": SKIN_TONES}
GROUP_NAMES = {"gender": GENDERS, "age": AGES, "skin": SKIN_TONES}

GROUPS = tuple("_".join(parts) for parts in product(GENDERS, AGES, SKIN_TONES))
"""The 18 groups of gender, age and skin tone; a group's index is (gender * 3 + age) * 3 + skin tone."""

COMBINATIONS = {
    "gender": (0,),
    "age": (1,),
    "skin": (2,),
    "gender_age": (0, 1),
    "gender_skin": (0, 2),
    "age_skin": (1, 2),
    "gender_age_skin": (0, 1, 2),
}
"""The seven attribute combinations, always in this order, as positions in (gender, age, skin)."""

_SIZES = (len(GENDERS), len(AGES), len(SKIN_TONES))


def combination_size(combination: str) -> int:
    """The number of groups of a combination: 2, 3, 3, 6, 6, 9, 18."""
    return int(np.prod([_SIZES[position] for position in COMBINATIONS[combination]]))


def combination_codes(attributes: NDArray[np.int_], combination: str) -> NDArray[np.int_]:
    """(n,) group index within a combination, from (n, 3) codes of gender, age and skin tone; -1 for a missing label."""
    positions = COMBINATIONS[combination]
    code = np.zeros(len(attributes), dtype=np.int64)
    for position in positions:
        code = code * _SIZES[position] + attributes[:, position]
    return np.where((attributes[:, list(positions)] < 0).any(axis=1), -1, code)


def group_members(combination: str) -> NDArray[np.int_]:
    """(18, k) 1 where a group of gender, age and skin tone is part of a combination's group."""
    codes = combination_codes(group_attributes(np.arange(len(GROUPS))), combination)
    return np.asarray(codes[:, None] == np.arange(combination_size(combination)), dtype=np.int64)


def group_attributes(groups: NDArray[np.int_]) -> NDArray[np.int_]:
    """(n,) indices into `GROUPS` -> (n, 3) codes of gender, age and skin tone."""
    return np.stack([groups // 9, groups // 3 % 3, groups % 3], axis=-1)


def combination_names(combination: str) -> tuple[str, ...]:
    """The names of a combination's groups, in the order of their codes."""
    parts = [tuple(GROUP_NAMES.values())[position] for position in COMBINATIONS[combination]]
    return tuple("_".join(names) for names in product(*parts))
