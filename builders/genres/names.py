"""The names of the characters of GENRES (Table 9)."""

from __future__ import annotations

from typing import Literal

Gender = Literal["female", "male"]
NAMES: dict[Gender, tuple[str, ...]] = {
    "female": (
        *("Mila", "Emma", "Eleanor", "Evelyn", "Sofia", "Elizabeth", "Luna"),
        *("Olivia", "Scarlett", "Amelia", "Charlotte", "Isabella", "Ava", "Mia"),
    ),
    "male": (
        *("Levi", "Henry", "William", "Oliver", "Jack", "Michael", "Elijah", "Noah"),
        *("Theodore", "Samuel", "Liam", "James", "Mateo", "Lucas", "Benjamin"),
    ),
}
"""Table 9. Its list of female names has 15 entries but prints Amelia twice, so there are 14."""
