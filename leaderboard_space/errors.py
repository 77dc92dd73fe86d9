"""Errors of the Space: a stable code with its HTTP status, where, what was found and expected, and how to fix it."""

import errno

from fairspace.builders.errors import CodedError

REFUSALS: dict[str, tuple[int, str]] = {
    "SIGN_IN_REQUIRED": (401, "you are not signed in, and no token was sent"),
    "TOKEN_INVALID": (401, "the token is not from this Space, or has expired"),
    "TOKEN_REVOKED": (401, "the token was revoked by its user, by whoever had it, or by a maintainer"),
    "SIGN_IN_FAILED": (403, "the sign-in was not completed"),
    "NOT_A_MAINTAINER": (403, "only maintainers may do this"),
    "ORGANISATION_UNKNOWN": (403, "the submission names an organisation that you do not belong to"),
    "FORM_FORGED": (403, "the form was sent from another site"),
    "UNKNOWN_SUBMISSION": (404, "there is no submission with this id, or it belongs to somebody else"),
    "UNKNOWN_ENTRY": (404, "there is no row with this name"),
    "EVIDENCE_UNREADABLE": (404, "this version of fairspace cannot show the evidence of the row"),
    "UNKNOWN_PAGE": (404, "there is no page at this address"),
    "WRONG_METHOD": (405, "this address does not accept this HTTP method"),
    "BAD_PARAMETER": (400, "a parameter has an invalid value"),
    "UPLOAD_MISSING": (400, "there is no file to submit"),
    "UPLOAD_NOT_A_ZIP": (400, "the file is not a zip, or not a whole one"),
    "UPLOAD_TOO_LARGE": (413, "the file is larger than the Space accepts"),
    "UPLOAD_TOO_SLOW": (408, "the upload took too long"),
    "UPLOAD_TOO_MANY_PARTS": (413, "the upload contains more than one file"),
    "REQUEST_TOO_LARGE": (413, "the headers or the body of the request are too large"),
    "QUOTA_VALID": (429, "your daily quota of scored submissions is used up"),
    "QUOTA_FAULTY": (429, "your daily quota of faulty submissions is used up"),
    "QUOTA_FAILED": (429, "this submission, or your submissions of one day, failed too often"),
    "QUOTA_WANTED": (429, "you, or all users together, asked for as many models as may wait"),
    "TOO_MANY_WAITING": (429, "you have too many waiting submissions"),
    "TOO_MANY_REQUESTS": (429, "too many requests were sent at once"),
    "QUEUE_FULL": (503, "the queue is full"),
    "WORK_FULL": (503, "the Space has no room to receive the upload, or cannot write it"),
    "STORE_FAILED": (503, "the storage is not available at the moment"),
    "STORE_NOT_KEPT": (503, "the Space has no permanent storage, so it accepts no submissions"),
    "BUILDER_GONE": (503, "what makes the pages has ended, and is started again"),
    "OUR_FAULT": (500, "an internal error of the Space"),
}
"""Code -> status of the answer, and what it means."""
CODES = {code: meaning for code, (_, meaning) in REFUSALS.items()}


class SpaceError(CodedError):
    """A request that the Space refuses."""

    codes = CODES

    @property
    def status(self) -> int:
        """HTTP status of the answer."""
        return REFUSALS[self.code][0]


UNREADABLE = "STORE_UNREADABLE"


STORE_CODES = {
    "STORE_FULL": "there is no room left, or a file cannot be written",
    "STORE_READ_ONLY": "this process has no leave to write there, or the disk is mounted for reading alone",
    "STORE_CORRUPT": "the log or a file is not what was written",
    UNREADABLE: "another version of this software wrote the file, and this one cannot read it",
    "STORE_MISSING": "there is no such file in the store",
    "STORE_PRUNED": "the file of this refused or failed submission was removed to make room",
    "STORE_UNAVAILABLE": "the Hub did not answer, or kept failing, or other writers kept coming first",
    "STORE_REFUSED": "the Hub refused, and asking again would not help",
    "STORE_FAULT": "this software went wrong at it; its log says where",
}


class StorageError(CodedError):
    """An operation that the storage cannot perform."""

    codes = STORE_CODES


def write_error(where: str, error: OSError) -> StorageError:
    """The error for a failed write."""
    what = f"it cannot be written: {error.strerror or error}"
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        mend = "let this process write there, or mount the disk for writing; nothing that was accepted before is lost"
        return StorageError("STORE_READ_ONLY", where, what, "a folder that this process may write to", mend)
    mend = "make room; nothing that was accepted before is lost"
    return StorageError("STORE_FULL", where, what, "room on the disk", mend)
