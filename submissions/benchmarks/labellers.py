"""What labelled the images of a row, where it was a package instead of ARES: such rows are ranked by themselves."""

from __future__ import annotations

from collections.abc import Mapping

from fairspace.ares.annotating.labellers import PACKAGES

_BY = ", labelled by "


def protocol_with_labeller(protocol: str, signature: Mapping[str, str]) -> str:
    """The protocol, and which package labelled the images, if one did.

    Args:
        protocol: of the same answers as ARES labels them.
        signature: of a result; its `labels` is NAME@VERSION.
    """
    name = signature.get("labels", "").rpartition("@")[0]
    return f"{protocol}{_BY}{name}" if name in PACKAGES else protocol


def protocol_of_labels(signature: Mapping[str, str], scored: object) -> str:
    """The dataset revision, and the package that labelled the images, if one did."""
    return protocol_with_labeller(signature.get("dataset_revision", ""), signature)


def without_labeller(protocol: str) -> str:
    """The protocol of the same answers as ARES labels them."""
    return protocol.partition(_BY)[0]


def labeller_text(protocol: str) -> str:
    """What a protocol's name says of the labeller, in a sentence; '' where it is ARES or no package that is known."""
    package = PACKAGES.get(protocol.partition(_BY)[2])
    if package is None:
        return ""
    missing = [name for name in ("gender", "age", "skin_tone", "race") if name not in package.attributes]
    return (
        f"The images were labelled by the package {package.name} {package.version}, not by ARES, and rows of another "
        f"labeller have another error. It has no {' and no '.join(missing).replace('_', ' ')}."
    )
