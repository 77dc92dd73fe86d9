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
            what, expected, mend = "the client is offline", "a client that may ask the Hub", "unset HF_HUB_OFFLINE"
            raise BuildError("HUB_REFUSED", self.where, what, expected, mend) from error
        except json.JSONDecodeError as error:
            raise TroubleError("failure", f"the answer is no JSON: {error}") from error
        except ValueError as error:  # a path, a name or an object that the client or the LFS store refuses
            mend = "mend what is named"
            raise BuildError("HUB_REFUSED", self.where, str(error), "a request that the Hub takes", mend) from error
        except RuntimeError as error:  # the client's wrapper of a failed upload
            if not isinstance(error.__cause__, any_trouble):
                raise
            raise self._judged(error.__cause__) from error
        except any_trouble as error:
            raise self._judged(error) from error

    def missed(self, trouble: TroubleError) -> None:
        """Wait before the next try. BuildError HUB_CONFLICT or HUB_UNAVAILABLE after enough tries."""
        if trouble.kind == "conflict":
            self.conflicts += 1
            self.failures, tries = 0, self.conflicts
            if tries >= CONFLICTS:
                what, mend = (
                    f"other writers were faster {tries} times",
                    "run the command again when the others are done",
                )
                last = f"{what}; last: {trouble}"
                raise BuildError("HUB_CONFLICT", self.where, last, "a repository at rest", mend) from trouble
        else:
            self.failures += 1
            tries = self.failures
            if tries >= self.tries or trouble.wait > LONGEST_OBEYED:
                last = f"no answer in {tries} tries; last: {trouble}"
                mend = "run the command again later; it goes on where it stopped"
                raise BuildError("HUB_UNAVAILABLE", self.where, last, "an answer", mend) from trouble
        longest = min(LONGEST_WAIT, 0.5 * 2 ** (tries - 1))
        self.sleep(trouble.wait + longest * (0.5 + self.draw() / 2))

    def _judged(self, error: Exception) -> TroubleError | BuildError:
        from huggingface_hub.errors import HfHubHTTPError

        if not isinstance(error, HfHubHTTPError):
            return TroubleError("failure", f"{type(error).__name__}: {error}")
        status = error.response.status_code
        what = f"{status} {' '.join((error.server_message or str(error)).split())}"
        if status in (409, 412):
            return TroubleError("conflict", what)
        if status in (408, 429) or status >= 500:
            return TroubleError("failure", what, _asked_to_wait(error.response.headers))
        if status in (401, 403):
            return BuildError("HUB_REFUSED", self.where, what, "a token that may do this", _LOG_IN)
        mend = "mend what the Hub names"
        return BuildError("HUB_REFUSED", self.where, what, "a request that the Hub takes", mend)


class TroubleError(Exception):
    """An answer after which another try may help, perhaps after `wait` seconds.

    `kind` is `conflict` if somebody else wrote, `failure` if the request's effect is unknown.
    """

    def __init__(self, kind: Literal["conflict", "failure"], words: str, wait: float = 0.0) -> None:
        super().__init__(words)
        self.kind, self.wait = kind, wait


def _asked_to_wait(headers: Mapping[str, str]) -> float:
    spent = re.search(r";\s*r=0\s*;\s*t=(\d+)", headers.get("RateLimit", ""))
    after = spent[1] if spent else headers.get("Retry-After", "")
    return float(after) if after.isdecimal() else 0.0  # a date: the growing wait must do
