"""A model that is a function of its prompt alone, fast or, by SECONDS, slow enough to be killed."""

import hashlib
import os
import time
from typing import Any


def answer(prompt: str, images: list[Any]) -> str:
    time.sleep(float(os.environ.get("SECONDS_OF_AN_ANSWER", "0")))
    number = int(hashlib.sha256(prompt.encode()).hexdigest(), 16)
    return f"{number % 100}% male, {100 - number % 100}% female" if number % 3 else "ABCD"[number % 4]
