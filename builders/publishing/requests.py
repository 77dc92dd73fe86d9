"""Requests to the Hub, repeated where that helps, and ended by a `BuildError` where it does not.

  409, 412                    somebody else wrote: read again, plan again
  408, 429, 5xx, no answer    ask again later; a change may have been made all the same, so read back first
  everything else             asking again would not help

Waits grow twofold from half a second, with jitter; a `Retry-After` is obeyed. The number of tries is bounded.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar, cast

from fairspace.builders.errors import BuildError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from huggingface_hub.errors import HfHubHTTPError

Answer = TypeVar("Answer")
CONFLICTS = 40
"""Tries to write while other writers come first."""
FAILURES = 8
"""Tries in a row at a Hub that fails."""
LONGEST_WAIT = 30.0
"""Bound of the growing waits, in seconds."""
LONGEST_OBEYED = 900.0
"""Longest obeyed wait in seconds, for example after a repository's 128 commits of the hour."""
TIMEOUT = 300.0
"""Seconds without a byte after which a request has failed; the client itself would wait for ever."""
_LOG_IN = "run `hf auth login`, or set HF_TOKEN, with a token that may write to this namespace"


@dataclass
class Requests:
    """Requests about one repository, with a count of failures; `tries` bounds those in a row."""

    where: str
    sleep: Callable[[float], None] = time.sleep
    draw: Callable[[], float] = random.random
    tries: int = FAILURES
    conflicts: int = 0
    failures: int = 0

    def ask(self, request: Callable[[], Answer]) -> Answer:
        """Repeat a harmless request until it is answered. BuildError as `missed`."""
        while True:
            try:
                return self.once(request)
            except TroubleError as trouble:
                self.missed(trouble)

    def once(self, request: Callable[[], Answer]) -> Answer:
        """Ask once. TroubleError if a repeat, after reading back, may help; BuildError HUB_REFUSED if not."""
        from huggingface_hub import get_session
        from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

        # httpx's or its successor's error, depending on the client
        any_trouble = cast(type[Exception], HfHubHTTPError.__bases__[0])
        get_session().timeout = TIMEOUT
        try:
            return request()
        except OfflineModeIsEnabled as error:
            raise self.refused(
                "the client is offline", "a client that may ask the Hub", "unset HF_HUB_OFFLINE"
            ) from error
        except json.JSONDecodeError as error:
            raise TroubleError("failure", f"the answer is no JSON: {error}") from error
        except ValueError as error:  # a path, a name or an object that the client or the LFS store refuses
            raise self.refused(str(error), "a request that the Hub takes", "mend what is named") from error
        except RuntimeError as error:  # the client's wrapper of a failed upload
            cause = error.__cause__
            if not isinstance(cause, any_trouble):
                raise
            raise self._judge(cause) from error
        except any_trouble as error:
            raise self._judge(error) from error

    def missed(self, trouble: TroubleError) -> None:
        """Wait before the next try. BuildError HUB_CONFLICT or HUB_UNAVAILABLE after enough tries."""
        if trouble.kind == "conflict":
            self.conflicts += 1
            self.failures, tries = 0, self.conflicts
            if tries >= CONFLICTS:
                raise BuildError(
                    "HUB_CONFLICT",
                    self.where,
                    f"other writers were faster {tries} times; last: {trouble}",
                    "a repository at rest",
                    "run the command again when the others are done",
                ) from trouble
        else:
            self.failures += 1
            tries = self.failures
            if tries >= self.tries or trouble.wait > LONGEST_OBEYED:
                raise BuildError(
                    "HUB_UNAVAILABLE",
                    self.where,
                    f"no answer in {tries} tries; last: {trouble}",
                    "an answer",
                    "run the command again later; it goes on where it stopped",
                ) from trouble
        longest = min(LONGEST_WAIT, 0.5 * 2 ** (tries - 1))
        self.sleep(trouble.wait + longest * (0.5 + self.draw() / 2))

    def refused(self, what: str, expected: str, mend: str) -> BuildError:
        """The error HUB_REFUSED."""
        return BuildError("HUB_REFUSED", self.where, what, expected, mend)

    def _judge(self, error: Exception) -> TroubleError:
        from huggingface_hub.errors import HfHubHTTPError

        if not isinstance(error, HfHubHTTPError):
            return TroubleError("failure", f"{type(error).__name__}: {error}")
        status, words = error.response.status_code, said(error)
        if status in (409, 412):
            return TroubleError("conflict", f"{status} {words}")
        if status in (408, 429) or status >= 500:
            return TroubleError("failure", f"{status} {words}", _asked_to_wait(error.response.headers))
        if status in (401, 403):
            raise self.refused(f"{status} {words}", "a token that may do this", _LOG_IN) from error
        raise self.refused(f"{status} {words}", "a request that the Hub takes", "mend what the Hub names") from error


class TroubleError(Exception):
    """An answer after which another try may help, perhaps after `wait` seconds.

    `kind` is `conflict` if somebody else wrote, `failure` if the request's effect is unknown.
    """

    def __init__(self, kind: Literal["conflict", "failure"], words: str, wait: float = 0.0) -> None:
        super().__init__(words)
        self.kind, self.wait = kind, wait


def said(error: HfHubHTTPError) -> str:
    """The Hub's own message, on one line."""
    return " ".join((error.server_message or str(error)).split())


def _asked_to_wait(headers: Mapping[str, str]) -> float:
    spent = re.search(r";\s*r=0\s*;\s*t=(\d+)", headers.get("RateLimit", ""))
    if spent:
        return float(spent[1])
    try:
        return max(0.0, float(headers.get("Retry-After", 0)))
    except ValueError:  # a date: the growing wait must do
        return 0.0
