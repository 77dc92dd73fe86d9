"""What is around a drawn person: the wall, a sign for the occupation, and the grain of the finished picture."""

from __future__ import annotations

import colorsys
from typing import TYPE_CHECKING

import numpy as np

from fairspace.builders.drawn.palette import Colour, draws, grain, mix, wall

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

FINE = 2
"""Pictures are drawn this many times larger, then shrunk, which smooths every edge."""


def room(size: tuple[int, int], random: np.random.RandomState) -> tuple[Image, ImageDraw]:
    """A wall with some shapes on it, twice as large as the picture will be."""
    from PIL import Image, ImageDraw

    width, height = (side * FINE for side in size)
    colour = wall(random)
    image = Image.new("RGB", (width, height), colour)
    canvas = ImageDraw.Draw(image)
    for _ in range(random.randint(2, 6)):
        tint = mix(colour, ((255, 255, 255), (0, 0, 0))[random.randint(2)], random.uniform(0.04, 0.14))
        x, y = random.uniform(0, width), random.uniform(0, height)
        wide, high = random.uniform(0.05, 0.3, 2) * width
        draw = canvas.rectangle if random.randint(2) else canvas.ellipse
        draw((x - wide, y - high, x + wide, y + high), fill=tint)
    floor = height * random.uniform(0.82, 0.95)
    canvas.rectangle((0, floor, width, height), fill=mix(colour, (0, 0, 0), 0.25))
    return image, canvas


def sign(canvas: ImageDraw, width: int, occupation: str) -> None:
    """A sign in the upper left corner: one of four shapes in one of eleven colours, on a white or dark plate."""
    random = draws("sign", occupation)
    side = width * 0.13
    edge = side * 0.2
    plate: Colour = ((250, 250, 250), (40, 40, 60))[random.randint(2)]
    canvas.rectangle((edge, edge, edge + side, edge + side), fill=plate)
    step = random.randint(11)
    # Hues 30 degrees apart, but for the one of irises.
    red, green, blue = colorsys.hsv_to_rgb((step + (step > 5)) / 12 + 0.03, 0.9, 0.85)
    fill = (round(red * 255), round(green * 255), round(blue * 255))
    low, high = edge + side * 0.18, edge + side * 0.82
    middle = (low + high) / 2
    shape = random.randint(4)
    if shape == 0:
        canvas.ellipse((low, low, high, high), fill=fill)
    elif shape == 1:
        canvas.rectangle((low, low, high, high), fill=fill)
    elif shape == 2:
        canvas.polygon([(middle, low), (high, high), (low, high)], fill=fill)
    else:
        canvas.polygon([(middle, low), (high, middle), (middle, high), (low, middle)], fill=fill)


def finish(image: Image, random: np.random.RandomState) -> Image:
    """Shrink to the size of the picture, and add the noise of a camera."""
    from PIL import Image

    small = np.asarray(image.reduce(FINE), dtype=np.int16)
    height, width = small.shape[:2]
    field = grain()
    x, y = random.randint(field.shape[1] - width), random.randint(field.shape[0] - height)
    noisy = small + field[y : y + height, x : x + width, None]
    return Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8))
