"""Opens the image-generating model that a user names: `SCHEME:WHAT[?SETTING=VALUE&...]`.

    diffusers:ID_OR_FOLDER[@REVISION]   a text-to-image pipeline of diffusers
                                        ?steps=28&guidance=3.5&size=1024&scheduler=..&dtype=..&variant=..&compile=..&batch=8
    endpoint:URL#MODEL                  an endpoint that speaks OpenAI's images protocol
                                        ?size=1024&quality=..&seed=true&concurrency=8&attempts=6&timeout=180
                                        &key=VARIABLE&revision=..
    python:MODULE:FUNCTION              the user's own code: a function of a module, or of a file: python:./mine.py:make
                                        ?batch=4&name=..&revision=..

A command line needs quotes around it. The code behind `python:` is what the person at the command line names; nothing
in a submission or a dataset ever is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairspace.builders.errors import BuildError
from fairspace.builders.models.schemes import Scheme, read
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.images.callable import CallableImages
from fairspace.submissions.running.images.diffusers import DiffusersImages
from fairspace.submissions.running.images.endpoint import EndpointImages
from fairspace.submissions.running.images.made import ImageModel


def open_image_model(named: str, *, device: str = "") -> ImageModel:
    """The model of that name. Weights are looked for now, and loaded when the first image is made.

    Args:
        named: as above.
        device: of torch, for diffusers; '' takes a GPU if there is one.

    Errors: RunError MODEL_UNKNOWN if the scheme, a setting or the model is not known; UsageError without a package.
    """
    try:
        scheme, what, chosen = read("images", named, SCHEMES)
        return scheme.open(what, chosen, (named, device))
    except BuildError as error:
        raise RunError("MODEL_UNKNOWN", error.where, error.what, error.expected, error.mend) from error


def _endpoint(what: str, chosen: Mapping[str, Any], request: tuple[str, str]) -> EndpointImages:
    url, _, model = what.rpartition("#")
    return EndpointImages(url, model, named=request[0], **chosen)


SCHEMES: Mapping[str, Scheme] = {
    "diffusers": Scheme(
        "diffusers:ID_OR_FOLDER[@REVISION]",
        "",
        {
            "steps": int,
            "guidance": float,
            "size": int,
            "scheduler": str,
            "dtype": str,
            "variant": str,
            "compile": bool,
            "batch": int,
        },
        lambda what, chosen, named_and_device: DiffusersImages(
            what, named=named_and_device[0], device=named_and_device[1], **chosen
        ),
    ),
    "endpoint": Scheme(
        "endpoint:URL#MODEL",
        "",
        {
            "size": str,
            "quality": str,
            "seed": bool,
            "concurrency": int,
            "attempts": int,
            "timeout": float,
            "key": str,
            "revision": str,
        },
        _endpoint,
    ),
    "python": Scheme(
        "python:MODULE:FUNCTION",
        "",
        {"batch": int, "name": str, "revision": str},
        lambda what, chosen, request: CallableImages(what, named=request[0], **chosen),
    ),
}
