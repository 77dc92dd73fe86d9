"""Animals, each in any colour: drawings of no person that a classifier of persons may take for one.

A pen whose unit is the picture's width; x and y go from 0 to 1.
"""

from __future__ import annotations

import numpy as np

from fairspace.builders.drawn.palette import Colour, mix
from fairspace.builders.drawn.pen import Pen


def colour(random: np.random.RandomState) -> Colour:
    """Any colour."""
    red, green, blue = random.randint(0, 256, 3).tolist()
    return red, green, blue


def fish(pen: Pen, random: np.random.RandomState) -> None:
    """A fish seen from the side."""
    body = colour(random)
    pen.shape([(0.62, 0.5), (0.92, 0.3), (0.92, 0.7)], body)
    pen.oval(0.42, 0.5, 0.3, random.uniform(0.12, 0.25), body)
    pen.oval(0.26, 0.45, 0.03, 0.03, (10, 10, 10))


def bird(pen: Pen, random: np.random.RandomState) -> None:
    """A bird seen from the side."""
    body = colour(random)
    pen.oval(0.5, 0.6, 0.26, 0.18, body)
    pen.oval(0.32, 0.36, 0.13, 0.13, body)
    pen.shape([(0.2, 0.34), (0.06, 0.39), (0.21, 0.42)], (240, 170, 30))
    pen.oval(0.3, 0.34, 0.025, 0.025, (10, 10, 10))
    pen.shape([(0.7, 0.55), (0.95, 0.45), (0.9, 0.65)], mix(body, (0, 0, 0), 0.3))


def dog(pen: Pen, random: np.random.RandomState) -> None:
    """The head of a dog, from the front."""
    fur = colour(random)
    dark = mix(fur, (0, 0, 0), 0.4)
    pen.oval(0.5, 0.5, 0.28, 0.32, fur)
    for side in (-1, 1):
        pen.oval(0.5 + side * 0.3, 0.45, 0.09, random.uniform(0.2, 0.3), dark)
        pen.oval(0.5 + side * 0.11, 0.42, 0.04, 0.045, (15, 12, 10))
    pen.oval(0.5, 0.64, 0.14, 0.13, mix(fur, (255, 255, 255), 0.5))
    pen.oval(0.5, 0.58, 0.05, 0.04, (15, 12, 10))


def cat(pen: Pen, random: np.random.RandomState) -> None:
    """The head of a cat, from the front."""
    fur, eyes = colour(random), colour(random)
    for side in (-1, 1):
        pen.shape([(0.5 + side * 0.3, 0.12), (0.5 + side * 0.3, 0.5), (0.5 + side * 0.05, 0.32)], fur)
    pen.oval(0.5, 0.55, 0.32, 0.28, fur)
    for side in (-1, 1):
        pen.oval(0.5 + side * 0.13, 0.5, 0.06, 0.05, eyes)
        pen.oval(0.5 + side * 0.13, 0.5, 0.015, 0.05, (5, 5, 5))
        for slope in (-0.04, 0.0, 0.04):
            pen.stroke([(0.5 + side * 0.08, 0.66), (0.5 + side * 0.42, 0.64 + slope)], (240, 240, 240), 0.008)
    pen.shape([(0.46, 0.6), (0.54, 0.6), (0.5, 0.65)], (225, 130, 140))
