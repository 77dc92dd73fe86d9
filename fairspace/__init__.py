"""fairspace measures the fairness of generative models: datasets, metrics, a classifier and a leaderboard.

The sub-packages are links to the folders at the top of the repository: `fairspace.builders` is `builders/`. As a library:

    import fairspace
    submission = fairspace.read_submission("my-submission")
    result = fairspace.score_submission(submission, "inaugural")
    result.scored.scores

The names below are loaded when they are first used, so that `import fairspace` takes no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairspace.submissions.benchmarks.registry import benchmark
    from fairspace.submissions.checking.submission import check_submission, read_submission
    from fairspace.submissions.results.result import Result
    from fairspace.submissions.results.scoring import load_result, rescore, score_submission
    from fairspace.submissions.version import VERSION as __version__

__all__ = [
    "Result",
    "__version__",
    "benchmark",
    "check_submission",
    "load_result",
    "read_submission",
    "rescore",
    "score_submission",
]
_HOMES = {
    "Result": ("submissions.results.result", "Result"),
    "__version__": ("submissions.version", "VERSION"),
    "benchmark": ("submissions.benchmarks.registry", "benchmark"),
    "check_submission": ("submissions.checking.submission", "check_submission"),
    "load_result": ("submissions.results.scoring", "load_result"),
    "read_submission": ("submissions.checking.submission", "read_submission"),
    "rescore": ("submissions.results.scoring", "rescore"),
    "score_submission": ("submissions.results.scoring", "score_submission"),
}
"""Name -> module and name there."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fairspace' has no attribute {name!r}")
    module, there = _HOMES[name]
    return getattr(import_module(f"fairspace.{module}"), there)


def __dir__() -> list[str]:
    return __all__
