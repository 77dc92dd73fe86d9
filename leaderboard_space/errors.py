"""Errors of the Space: a stable code with its HTTP status, where, what was found and expected, and how to fix it."""

from __future__ import annotations

from fairspace.builders.errors import CodedError

STATUS: dict[str, int] = {
    "SIGN_IN_REQUIRED": 401,
    "TOKEN_INVALID": 401,
    "TOKEN_REVOKED": 401,
    "SIGN_IN_FAILED": 403,
    "NOT_A_MAINTAINER": 403,
    "ORGANISATION_UNKNOWN": 403,
    "FORM_FORGED": 403,
    "UNKNOWN_SUBMISSION": 404,
    "UNKNOWN_ENTRY": 404,
    "UNKNOWN_PAGE": 404,
    "WRONG_METHOD": 405,
    "BAD_PARAMETER": 400,
    "UPLOAD_MISSING": 400,
    "UPLOAD_NOT_A_ZIP": 400,
    "UPLOAD_TOO_LARGE": 413,
    "UPLOAD_TOO_SLOW": 408,
    "UPLOAD_TOO_MANY_PARTS": 413,
    "REQUEST_TOO_LARGE": 413,
    "QUOTA_VALID": 429,
    "QUOTA_FAULTY": 429,
    "QUOTA_FAILED": 429,
    "TOO_MANY_WAITING": 429,
    "TOO_MANY_REQUESTS": 429,
    "QUEUE_FULL": 503,
    "WORK_FULL": 503,
    "STORE_FAILED": 503,
    "STORE_AWAY": 503,
    "STORE_NOT_KEPT": 503,
    "OUR_FAULT": 500,
}
"""Code -> status of the answer."""
CODES: dict[str, str] = {
    "SIGN_IN_REQUIRED": "you are not signed in, and no token was sent",
    "SIGN_IN_FAILED": "the sign-in was not completed",
    "TOKEN_INVALID": "the token is not from this Space, or has expired",
    "TOKEN_REVOKED": "the token was revoked by its user, by whoever had it, or by a maintainer",
    "NOT_A_MAINTAINER": "only maintainers may do this",
    "ORGANISATION_UNKNOWN": "the submission names an organisation that you do not belong to",
    "FORM_FORGED": "the form was sent from another site",
    "UNKNOWN_SUBMISSION": "there is no submission with this id, or it belongs to somebody else",
    "UNKNOWN_ENTRY": "there is no row with this name",
    "UNKNOWN_PAGE": "there is no page at this address",
    "WRONG_METHOD": "this address does not accept this HTTP method",
    "BAD_PARAMETER": "a parameter has an invalid value",
    "UPLOAD_MISSING": "the request contains no file",
    "UPLOAD_NOT_A_ZIP": "the file is not a zip, or not a whole one",
    "UPLOAD_TOO_LARGE": "the file is larger than the Space accepts",
    "UPLOAD_TOO_SLOW": "the upload took too long",
    "UPLOAD_TOO_MANY_PARTS": "the upload contains more than one file",
    "REQUEST_TOO_LARGE": "the headers or the body of the request are too large",
    "QUOTA_VALID": "your daily quota of scored submissions is used up",
    "QUOTA_FAULTY": "your daily quota of faulty submissions is used up",
    "QUOTA_FAILED": "this submission, or your submissions of one day, failed too often",
    "TOO_MANY_WAITING": "you have too many waiting submissions",
    "TOO_MANY_REQUESTS": "too many requests were sent at once",
    "QUEUE_FULL": "the queue is full",
    "WORK_FULL": "the Space has no room to receive the upload, or cannot write it",
    "STORE_FAILED": "the storage is not available at the moment",
    "STORE_AWAY": "the Space shows the last copy of its store until the Hub answers again, and takes no submissions",
    "STORE_NOT_KEPT": "the Space has no permanent storage, so it accepts no submissions",
    "OUR_FAULT": "an internal error of the Space",
}


class SpaceError(CodedError):
    """A request that the Space refuses."""

    codes = CODES

    @property
    def status(self) -> int:
        """HTTP status of the answer."""
        return STATUS[self.code]
