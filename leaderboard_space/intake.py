"""Intake of submissions: permission, quotas, a durable copy before the answer; and events that add results."""

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.errors import SpaceError, StorageError
from fairspace.leaderboard_space.events import Draft, Event, clock, result_path, submission_path
from fairspace.leaderboard_space.logged import LoggedSubmission, packed
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage import Storage
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.checking.names import HUB
from fairspace.submissions.errors import plain
from fairspace.submissions.format.faults import Collector, RefusedError
from fairspace.submissions.reading.containers import LIMITS, check_zip, open_container
from fairspace.submissions.reading.tables import META, read_object
from fairspace.submissions.results.board import entry
from fairspace.submissions.results.result import Result


def submission_id(user: str, sha256: str) -> str:
    """Id of a submission: the same for the same file of the same user."""
    return hashlib.sha256(f"{user}\0{sha256}".encode()).hexdigest()[:20]


def result_key(result: Result) -> str:
    """Key of a result: sha256 of the submission's digest, the standard, model and model revision."""
    parts = (result.signature.get("submission", ""), result.standard)
    meta = (str(result.meta.get("model", "")), str(result.meta.get("revision", "")))
    return hashlib.sha256("\0".join((*parts, *meta)).encode()).hexdigest()


def result_draft(
    result: Result,
    user: str = "",
    organisation: str = "",
    identity: Mapping[str, Any] | None = None,
    *,
    own: bool = False,
) -> tuple[Draft, dict[str, bytes]]:
    """The event that adds a result to the board, and its file. UsageError: unknown benchmark.

    Args:
        result: the result.
        user: submitter; '' for none.
        organisation: organisation of the submission.
        identity: identity of the answers, as `read_identity` gives it; without it only equal answers are found.
        own: whether the maintainers scored it themselves.
    """
    key = result_key(result)
    content = result.dumps().encode()
    body = {
        "key": key,
        "entry": entry(result),
        "user": user,
        "organisation": organisation,
        "sha256": hashlib.sha256(content).hexdigest(),
        "result": {name: part for name, part in result.to_json().items() if name in _KEPT},
        **packed(result, shown_values(result.benchmark)),
        **({"identity": identity} if identity else {}),
        **({"own": True} if own else {}),
    }
    return Draft("result", f"result:{key}", body), {result_path(result.benchmark, key): content}


def add_result(storage: Storage, result: Result) -> Event:
    """Add a result that was not submitted; a second time changes nothing. Errors: as `Storage.append`."""
    draft, files = result_draft(result, own=True)
    return storage.append([draft], files)[0]


_KEPT = ("benchmark", "standard", "meta", "signature", "run")
_DAY, _AHEAD = timedelta(days=1), timedelta(minutes=5)
"""Window of the quotas, and tolerated lead of another process' clock."""
WANTED, WANTED_IN_ALL = 5, 500
"""Models that a user may have asked us to run and that wait, and such models of all users."""


@dataclass(frozen=True)
class User:
    """The user of a request, `local` without sign-in, and their organisations."""

    name: str
    organisations: tuple[str, ...] = ()


@dataclass(frozen=True)
class Usage:
    """A user's use of the quotas in the last 24 hours, and their waiting submissions.

    `waiting` and `failed` (times of attempts) leave out those that an error of this Space delayed or caused.
    """

    waiting: list[LoggedSubmission]
    scored: list[LoggedSubmission]
    faulty: list[LoggedSubmission]
    failed: list[str]


class Intake:
    """Accepts submissions. Safe for several threads; files that are being written count for the quotas."""

    def __init__(self, state: State, settings: Settings) -> None:
        self.state, self.settings = state, settings
        self._is_kept = settings.keeps_the_store()
        self._lock, self._wanting = threading.Lock(), threading.Lock()
        self._coming: dict[str, LoggedSubmission] = {}
        """Submissions being written to the store; storages combine simultaneous writes."""

    def accept(self, file: Path, user: User, organisation: str = "", file_name: str = "") -> LoggedSubmission:
        """Accept a file; it is in the store on return. `file_name` stands for the model of a file that names none.

        The same file of the same user is the same submission and counts once; its state is returned, and a failed one
        is tried again, a few times.

        Errors: SpaceError UPLOAD_TOO_LARGE, UPLOAD_NOT_A_ZIP, ORGANISATION_UNKNOWN, QUOTA_VALID, QUOTA_FAULTY,
        QUOTA_FAILED, TOO_MANY_WAITING, QUEUE_FULL, STORE_FAILED, STORE_NOT_KEPT.
        """
        self._check_store()
        size = file.stat().st_size
        if size > self.settings.upload_bytes:
            problem, most = f"{size:,} bytes", f"at most {self.settings.upload_bytes:,}"
            raise SpaceError("UPLOAD_TOO_LARGE", "the file", problem, most, "submit tables as Parquet; see FORMAT.md")
        if organisation and organisation not in user.organisations:
            organisations = ", ".join(user.organisations) or "none"
            mend = "choose one of your organisations, or submit in your own name"
            raise SpaceError(
                "ORGANISATION_UNKNOWN", "organisation", repr(organisation), f"one of: {organisations}", mend
            )
        _check_zip(file)
        with file.open("rb") as stream:
            sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
        name = submission_id(user.name, sha256)
        try:
            with self._lock:
                self.state.refresh()
                before = self.state.submission(name)
                if before is not None and before.outcome != "failed":
                    return before
                if name not in self._coming:
                    self._check_quota(user)
                    self._check_attempts(before)
                attempt = 1 if before is None else before.attempt + 1
                came = clock()
                self._coming[name] = LoggedSubmission(
                    name, user.name, organisation, sha256, size, "", attempt, clock=came
                )
            body = {"user": user.name, "organisation": organisation, "sha256": sha256, "size": size, "clock": came}
            if model := _model_in(file) or Path(file_name).stem:
                body["name"] = plain(model)[:_NAME_LENGTH]
            draft = Draft("accepted", f"accepted:{name}:{attempt}", {"id": name, "attempt": attempt, **body})
            self.state.storage.append([draft], {submission_path(sha256): file})
            self.state.refresh()
        except StorageError as error:
            mend = "submit it again later; this file was not accepted, and earlier submissions are safe"
            raise SpaceError("STORE_FAILED", "the store", error.code, "a storage that accepts it", mend) from error
        finally:
            with self._lock:
                self._coming.pop(name, None)
        accepted = self.state.submission(name)
        assert accepted is not None
        return accepted

    def want(self, model: str, user: User, benchmark: str = "") -> None:
        """Log that a user asks us to run a model of the Hub, for a benchmark or for all; once for each user and model.

        Nothing is asked of the Hub. Errors: SpaceError BAD_PARAMETER, QUOTA_WANTED, STORE_NOT_KEPT; StorageError.
        """
        self._check_store()
        if not HUB.fullmatch(model) or benchmark not in ("", *NAMES):
            problem, mend = repr(plain(f"{model} {benchmark}")[:100]), "copy the name from the model's page on the Hub"
            raise SpaceError("BAD_PARAMETER", "the model", problem, "OWNER/NAME, and a test of ours or none", mend)
        with self._wanting:
            self.state.refresh()
            wanted, key, name = self.state.wanted(), model.casefold(), user.name.casefold()
            wish = wanted.get(key)
            if wish is not None and wish.state == "struck":
                problem, mend = f"a maintainer struck it: {wish.reason}", "ask for another model"
                raise SpaceError("BAD_PARAMETER", model, problem, "a model that we can run", mend)
            if wish is not None and name in wish.askers:
                return
            waiting = [each for each in wanted.values() if each.state == "asked"]
            full = wish is None and len(waiting) >= WANTED_IN_ALL
            if full or sum(name in each.askers for each in waiting) >= WANTED:
                problem, expected = (
                    f"{len(waiting)} models wait",
                    f"at most {WANTED} of one user, {WANTED_IN_ALL} in all",
                )
                raise SpaceError("QUOTA_WANTED", "the list", problem, expected, "wait until some have run")
            body = {"model": model, "user": user.name, "benchmark": benchmark}
            self.state.storage.append([Draft("wanted", f"wanted:{key}:{name}", body)])
            self.state.refresh()

    def _check_store(self) -> None:
        if not self._is_kept:
            problem, expected = "temporary storage, deleted with the container", "permanent storage"
            mend = "ask the maintainers to set FAIRSPACE_STORE (see leaderboard_space/OPERATION.md)"
            raise SpaceError("STORE_NOT_KEPT", "the store", problem, expected, mend)

    def usage(self, user: User) -> Usage:
        """A user's use of the quotas; days follow the clock of the accepting process."""
        name = user.name.casefold()
        submissions = [submission for submission in self.state.submissions() if submission.user.casefold() == name]
        begin, end = clock(-_DAY), clock(_AHEAD)
        recent = [submission for submission in submissions if begin < submission.clock <= end]
        failed = (
            clock
            for submission in submissions
            for clock in (*submission.failed, *([submission.clock] if _has_failed(submission) else []))
        )
        return Usage(
            [each for each in submissions if each.outcome == "waiting"],
            [submission for submission in recent if submission.outcome == "scored"],
            [submission for submission in recent if submission.outcome == "refused"],
            [clock for clock in failed if begin < clock <= end],
        )

    def _check_quota(self, user: User) -> None:
        settings = self.settings
        coming = [upload for upload in self._coming.values() if not self._is_there(upload)]
        if (
            sum(submission.outcome == "waiting" for submission in self.state.submissions()) + len(coming)
            >= settings.queue_length
        ):
            problem = f"{settings.queue_length} submissions wait"
            raise SpaceError("QUEUE_FULL", "the queue", problem, "room for another one", "submit it again later")
        used = self.usage(user)
        waiting = [*used.waiting, *(upload for upload in coming if upload.user.casefold() == user.name.casefold())]
        for code, what, most, counted in (
            ("TOO_MANY_WAITING", "waiting", settings.waiting, waiting),
            ("QUOTA_VALID", "scored or waiting", settings.valid_a_day, [*used.scored, *waiting]),
            ("QUOTA_FAULTY", "faulty or waiting", settings.faulty_a_day, [*used.faulty, *waiting]),
        ):
            if len(counted) >= most:
                first = min((submission.clock for submission in counted), default=clock())
                mend = "wait until one is done" if what == "waiting" else f"wait: {first} plus 24 hours"
                problem = f"{len(counted)} {what} submissions of {user.name}"
                raise SpaceError(code, "the quota", problem, f"at most {most}", mend)
        if len(used.failed) >= settings.failed_a_day:
            problem = f"{len(used.failed)} failed attempts of {user.name}"
            mend = f"tell the maintainers, or wait: {min(used.failed)} plus 24 hours"
            raise SpaceError("QUOTA_FAILED", "the quota", problem, f"at most {settings.failed_a_day}", mend)

    def _check_attempts(self, before: LoggedSubmission | None) -> None:
        failed = 0 if before is None else len(before.failed) + _has_failed(before)
        if before is not None and failed >= self.settings.attempts:
            problem, most = f"{failed} attempts at it failed", f"at most {self.settings.attempts} attempts"
            raise SpaceError("QUOTA_FAILED", f"submission {before.id}", problem, most, "send the id to the maintainers")

    def _is_there(self, coming: LoggedSubmission) -> bool:
        stored = self.state.submission(coming.id)
        return stored is not None and stored.attempt >= coming.attempt


def _check_zip(file: Path) -> None:
    """Refuse a file that is no zip at once; all other faults are found later."""
    try:
        check_zip(file)
    except RefusedError as refused:
        if refused.code in ("NOT_A_SUBMISSION", "ZIP_CORRUPT"):
            expected, mend = "a whole .zip", "zip the folder of the submission, and upload it again"
            raise SpaceError("UPLOAD_NOT_A_ZIP", "the file", refused.what, expected, mend) from refused


_NAME_LENGTH = 120
"""Characters of a submission's name that are kept."""


def _model_in(file: Path) -> str:
    """The model that a zip's `submission.json` names; '' if none can be read; the scoring says why."""
    try:
        with open_container(file, LIMITS, Collector(1)) as members:
            meta = next(member for member in members if member.name == META)
            model = read_object(meta, LIMITS.meta_bytes, LIMITS.depth).get("model")
            return model if isinstance(model, str) else ""
    except (StopIteration, RefusedError):
        return ""


def _has_failed(submission: LoggedSubmission) -> bool:
    """Whether the last attempt failed without an error of this Space."""
    return submission.outcome == "failed" and not submission.ours


@cache
def shown_values(benchmark: str) -> frozenset[str]:
    """Names in the tables, figures and findings of a board, scores too, and the witnesses of their ideals.

    UsageError: unknown benchmark.
    """
    bench, view = find_benchmark(benchmark), VIEWS[benchmark]
    names = {*bench.words.findings, *(name for figure in view.figures for name in figure.reads)}
    for part in view.slices.values():
        names |= {column.score for column in (part.total, *part.columns, *(part.fair or ()))}
    ideals = [bench.ideal(name, standard) for name in names for standard in bench.standards]
    return frozenset(names.union(*(ideal.witnesses for ideal in ideals if ideal is not None)))
