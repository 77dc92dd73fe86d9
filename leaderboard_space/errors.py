"""What the Space refuses: an error says where, what, what was expected and a remedy; its code has an HTTP status."""

from __future__ import annotations

from fairspace.builders.errors import CodedError

STATUS: dict[str, int] = {
    "SIGN_IN_REQUIRED": 401,
    "TOKEN_INVALID": 401,
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
    "ADJUSTED_BUSY": 503,
    "STORE_FAILED": 503,
    "STORE_NOT_KEPT": 503,
    "OUR_FAULT": 500,
}
"""Code -> status of the answer."""
CODES: dict[str, str] = {
    "SIGN_IN_REQUIRED": "submitting needs a signed-in user, or a token of one",
    "SIGN_IN_FAILED": "a sign-in did not come to its end",
    "TOKEN_INVALID": "the token was not made here, or has expired",
    "NOT_A_MAINTAINER": "only maintainers may do this",
    "ORGANISATION_UNKNOWN": "a submitter names an organisation that they do not belong to",
    "FORM_FORGED": "a form was sent from somewhere else than this Space",
    "UNKNOWN_SUBMISSION": "there is no submission of that id, or it is somebody else's",
    "UNKNOWN_ENTRY": "there is no row of that name",
    "UNKNOWN_PAGE": "there is nothing at that address",
    "WRONG_METHOD": "there is nothing at that address that answers to this method",
    "BAD_PARAMETER": "a parameter has a value that is not known",
    "UPLOAD_MISSING": "no file came with the request",
    "UPLOAD_TOO_LARGE": "the file has more bytes than the Space takes",
    "UPLOAD_TOO_SLOW": "the file did not come in time",
    "UPLOAD_TOO_MANY_PARTS": "an upload holds more than the one file",
    "REQUEST_TOO_LARGE": "the head or the body of a request is larger than any that is needed",
    "QUOTA_VALID": "the user has had as many submissions scored in a day as one may",
    "QUOTA_FAULTY": "the user has handed in as many faulty submissions in a day as one may",
    "QUOTA_FAILED": "attempts at one submission, or of one user in a day, failed as often as they may",
    "TOO_MANY_WAITING": "the user has as many submissions waiting as one may",
    "TOO_MANY_REQUESTS": "too many requests came at once",
    "QUEUE_FULL": "the queue takes no more for now",
    "ADJUSTED_BUSY": "too many boards under readers' adjustments are asked for at once; the released ones do not wait",
    "STORE_FAILED": "the storage does not take anything at the moment",
    "STORE_NOT_KEPT": "the Space's results would be lost at its next restart, so it takes no submissions",
    "OUR_FAULT": "something went wrong within the Space",
}


class SpaceError(CodedError):
    """A request that the Space refuses."""

    codes = CODES

    @property
    def status(self) -> int:
        """Of the answer over HTTP."""
        return STATUS[self.code]
