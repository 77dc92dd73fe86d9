"""fairspace measures the fairness of generative models: datasets, metrics, a classifier and a leaderboard.

    import fairspace as fs

    answers = fs.run(model, "fact_or_fair", dataset_revision="v2-core")   # model: a function of a prompt, or a name
    result = fs.score(answers)                                    # or of a data frame, a dataset, a file
    Path("figure.svg").write_text(result.plot().document())
    print(result.to_latex())

LIBRARY.md has every function with an example. The names below load on first use, so `import fairspace` is fast.
Sub-packages are links to folders at the top of the repository: `fairspace.builders` is `builders/`. In a checkout
without links (Windows makes text files of them) Python finds these folders by `__path__`.
"""

import warnings
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairspace.answers import Answers, items, score
    from fairspace.asking import join, run, run_async
    from fairspace.measuring import Measured, measure, swaps
    from fairspace.outcome import Result, load_result, paper, rescore
    from fairspace.repeating import Stability, stability
    from fairspace.submissions.benchmarks.registry import benchmark
    from fairspace.submissions.checking.submission import check_submission
    from fairspace.submissions.comparing import Comparison, compare
    from fairspace.submissions.errors import RunError, UsageError
    from fairspace.submissions.format.faults import SubmissionError
    from fairspace.submissions.gating import Gate, gate
    from fairspace.submissions.names import NAMES as BENCHMARKS
    from fairspace.submissions.version import VERSION as __version__  # noqa: N811, the name that packages have

__all__ = [
    "Answers",
    "BENCHMARKS",
    "Comparison",
    "Gate",
    "Measured",
    "Result",
    "RunError",
    "Stability",
    "SubmissionError",
    "UsageError",
    "__version__",
    "benchmark",
    "check_submission",
    "compare",
    "gate",
    "items",
    "join",
    "load_result",
    "measure",
    "paper",
    "rescore",
    "run",
    "run_async",
    "score",
    "stability",
    "swaps",
]
_HOMES = {
    "answers": ("Answers", "items", "score"),
    "asking": ("join", "run", "run_async"),
    "measuring": ("Measured", "measure", "swaps"),
    "outcome": ("Result", "load_result", "paper", "rescore"),
    "repeating": ("Stability", "stability"),
    "submissions.benchmarks.registry": ("benchmark",),
    "submissions.checking.submission": ("check_submission",),
    "submissions.comparing": ("Comparison", "compare"),
    "submissions.errors": ("RunError", "UsageError"),
    "submissions.format.faults": ("SubmissionError",),
    "submissions.gating": ("Gate", "gate"),
}
"""Module -> its names that stand here, too."""
_RENAMED = {"BENCHMARKS": ("submissions.names", "NAMES"), "__version__": ("submissions.version", "VERSION")}

warnings.filterwarnings("ignore", "IProgress not found", module=r"tqdm\.")  # without ipywidgets it draws text

if Path(__file__).with_name("metrics").is_file():
    __path__.append(str(Path(__file__).parents[1]))


def __getattr__(name: str) -> Any:
    module, there = _RENAMED.get(name) or (next((of for of, names in _HOMES.items() if name in names), ""), name)
    if not module:
        raise AttributeError(f"module 'fairspace' has no attribute {name!r}")
    return getattr(import_module(f"fairspace.{module}"), there)


def __dir__() -> list[str]:
    return __all__
