"""Drawings without a person: animals, and things that resemble a face in form, place, size or colour.

The pen's unit is the picture's width; x and y go from 0 to 1.
"""

from __future__ import annotations

import numpy as np

from fairspace.builders.drawn.palette import MONK, Colour, Pen, mix


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


def skin(random: np.random.RandomState) -> Colour:
    """A colour of skin, or any."""
    return MONK[random.randint(1, 11)] if random.randint(2) else colour(random)


def hand(pen: Pen, random: np.random.RandomState) -> None:
    """A hand or a glove with its fingers up."""
    tone = skin(random)
    x, y = random.uniform((0.42, 0.58), (0.58, 0.7))
    for finger in range(4):
        across, reach = 0.085 * (finger - 1.5), random.uniform(0.25, 0.4)
        pen.stroke([(x + across, y), (x + 1.6 * across, y - reach)], tone, 0.07)
    pen.stroke([(x, y + 0.05), (x + random.choice([-1, 1]) * 0.28, y - 0.12)], tone, 0.075)
    pen.oval(x, y, 0.18, 0.17, tone)
    pen.box(x - 0.11, y + 0.1, x + 0.11, 1.0, tone)


def fruit(pen: Pen, random: np.random.RandomState) -> None:
    """Something round with a light or hands on it: a ball, a fruit, a clock."""
    x, y, reach = random.uniform((0.4, 0.42, 0.15), (0.6, 0.58, 0.42))
    body = skin(random)
    pen.oval(x, y, reach, reach * random.uniform(0.8, 1.2), body)
    if random.randint(2):
        pen.oval(x - reach / 3, y - reach / 3, reach / 4, reach / 5, (245, 245, 240))
        pen.stroke([(x, y - reach), (x + 0.05, y - reach - 0.1)], colour(random), 0.03)
        return
    for angle in random.uniform(0, 2 * np.pi, random.randint(2, 13)):
        end = (x + 0.8 * reach * np.cos(angle), y + 0.8 * reach * np.sin(angle))
        pen.stroke([(x, y), end], colour(random), 0.02)


def tree(pen: Pen, random: np.random.RandomState) -> None:
    """A tree in front of hills."""
    pen.box(0, random.uniform(0.5, 0.8), 1, 1, colour(random))
    pen.box(0.46, 0.5, 0.54, 0.9, (90, 60, 40))
    leaf = colour(random)
    for _ in range(random.randint(3, 12)):
        x, y, reach = random.uniform((0.3, 0.15, 0.06), (0.7, 0.55, 0.2))
        pen.oval(x, y, reach, reach, mix(leaf, colour(random), 0.2))


def house(pen: Pen, random: np.random.RandomState) -> None:
    """A house with two windows and a door, which resembles a face."""
    body, hole = skin(random), colour(random)
    pen.box(0.2, 0.3, 0.8, 0.95, body)
    pen.shape([(0.12, 0.32), (0.5, random.uniform(0.02, 0.2)), (0.88, 0.32)], colour(random))
    for x in (0.35, 0.65):
        pen.box(x - 0.07, 0.42, x + 0.07, 0.55, hole)
    pen.box(0.43, 0.68, 0.57, 0.95, colour(random))


def mask(pen: Pen, random: np.random.RandomState) -> None:
    """A mask: a shield of one colour with holes and a pattern."""
    shield, hole = skin(random), mix(colour(random), (0, 0, 0), 0.7)
    pen.shape([(0.2, 0.2), (0.8, 0.2), (0.76, 0.65), (0.5, 0.92), (0.24, 0.65)], shield)
    for side in (-1, 1):
        pen.shape([(0.5 + side * x, y) for x, y in ((0.06, 0.42), (0.22, 0.36), (0.2, 0.48))], hole)
        pen.stroke([(0.5 + side * 0.1, 0.62), (0.5 + side * 0.22, 0.75)], colour(random), 0.04)
    pen.box(0.4, 0.7, 0.6, 0.74, hole)


def flower(pen: Pen, random: np.random.RandomState) -> None:
    """A flower on its stem."""
    petals, reach = random.randint(5, 10), random.uniform(0.18, 0.26)
    leaf, middle = colour(random), colour(random)
    pen.stroke([(0.5, 0.5), (0.5, 1.0)], (40, 130, 50), 0.04)
    for angle in np.arange(petals) * 2 * np.pi / petals:
        pen.oval(0.5 + reach * np.cos(angle), 0.42 + reach * np.sin(angle), 0.11, 0.11, leaf)
    pen.oval(0.5, 0.42, 0.13, 0.13, middle)


def cartoon(pen: Pen, random: np.random.RandomState) -> None:
    """A round face of two dots and a line, in any colour."""
    high = random.uniform(0.3, 0.42)
    pen.oval(0.5, 0.5, high, high, colour(random))
    ink = (15, 15, 15)
    for side in (-1, 1):
        pen.oval(0.5 + side * 0.13, 0.42, 0.035, 0.055, ink)
    bend = random.uniform(-0.1, 0.12)
    pen.stroke([(0.34, 0.6), (0.42, 0.6 + bend), (0.58, 0.6 + bend), (0.66, 0.6)], ink, 0.025)
