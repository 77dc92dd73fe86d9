"""The pictures of a hidden set: the faces of the published pictures in other pairs, on other sides.

Within a cell of section 4 (age, shared group, two groups) the pairs that a build has are put into an order of the set's
seed, and each gets the second group's face of the next one; so a picture of a set stands in no dataset, and the set
needs no source beside the published build. A cell with one pair keeps its two faces. The sides and the orders of the
offered groups are drawn as those of a public revision, from the set's seed (`plan`).
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

import numpy as np
import numpy.typing as npt

from fairspace.builders.stereotypical_bias import plan


def partners(attribute: plan.Attribute, revision: str, there: Sequence[int]) -> list[int]:
    """For each of the pairs that a build has, by place in the plan, the pair whose second face it gets.

    BuildError REVISION_UNKNOWN without the seed of the set.
    """
    sizes = plan.cell_sizes(attribute, revision)
    places = np.asarray(there, np.int64)
    cell = np.repeat(np.arange(len(sizes)), sizes)[places]
    key = plan.random_stream(f"partners/{attribute}", revision).random_sample(sum(sizes))[places]
    order = np.lexsort((key, cell))
    begins = np.flatnonzero(np.diff(cell[order], prepend=-1))
    following = np.arange(1, len(order) + 1)
    following[np.append(begins[1:], len(order)) - 1] = begins
    partner = np.empty_like(places)
    partner[order] = places[order[following]]
    return [int(place) for place in partner]


def picture(first: tuple[bytes, int], second: tuple[bytes, int], *, swapped: bool) -> bytes:
    """A JPEG of two faces side by side.

    Args:
        first: a picture and the side, 0 or 1, on which the first group's face stands in it.
        second: the same of the second group's face.
        swapped: whether the second group's face stands left.

    OSError for a picture that cannot be read.
    """
    from fairspace.builders.publishing.join_images import spliced_jpeg

    one, other = _half(*first), _half(*second)
    return spliced_jpeg(other, one) if swapped else spliced_jpeg(one, other)


def sides(attribute: plan.Attribute, revision: str) -> npt.NDArray[np.bool_]:
    """(pairs) whether the second of the two groups stands left."""
    pairs = plan.pairs(attribute, revision)
    return np.asarray(pairs["left"].to_numpy() > pairs["right"].to_numpy())


def _half(data: bytes, side: int) -> bytes:
    """One face of a picture, as a PNG file."""
    from fairspace.builders.publishing.join_images import upright

    image = upright(data)
    middle = image.width // 2
    file = BytesIO()
    image.crop((side * middle, 0, middle + side * middle, image.height)).save(file, "PNG")
    return file.getvalue()
