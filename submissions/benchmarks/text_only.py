"""Runs that leave the images out (`--text-only`): what their signatures and protocols say."""

from __future__ import annotations

from fairspace.submissions.format.schema import Submission

TEXT_ONLY = "text only"
"""What a run showed that left the images out."""
NO_IMAGE = "The model was shown no image."


def text_only(protocol: str) -> str:
    """The protocol of the same run without its images."""
    return f"{protocol}, {TEXT_ONLY}"


def shown(submission: Submission) -> dict[str, str]:
    """Part of a signature: `shown` of a run that left the images out; empty for others."""
    return {"shown": TEXT_ONLY} if submission.meta.generation.get("text_only") else {}
