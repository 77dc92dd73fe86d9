"""Mutated files, mutants per area, and the tests of a file."""

from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]
SAMPLE = {"metrics": 60, "uncertainty": 40, "reading": 50, "intake": 20, "scoring": 70}
FILES: dict[str, tuple[str, ...]] = {
    "metrics": ("metrics/*/formula.py",),
    "uncertainty": ("submissions/uncertainty/*.py",),
    "reading": ("submissions/reading/*.py",),
    "intake": ("leaderboard_space/intake.py",),
    "scoring": (
        "submissions/benchmarks/*/score.py",
        "submissions/benchmarks/scoring_table.py",
        "submissions/results/scoring.py",
        "submissions/results/tiers.py",
    ),
}
PROBES = (
    *("association_bias", "embedding_complexity", "intent_consistency", "projection_distortion"),
    *("representation_similarity_bias", "stepwise_bias"),
)
OF_METRICS = "metrics/test_invariances metrics/test_formulas"
OF_BENCHMARKS = " ".join(f"submissions/benchmarks/test_{name}" for name in ("scores", "scoring_table", "resample"))
OF_IRIS = "submissions/benchmarks/iris/test_resample submissions/benchmarks/iris/test_score"
FURTHER: tuple[tuple[str, str], ...] = (
    ("metrics/*/formula.py", OF_METRICS),
    ("metrics/*/formula.py", "submissions/uncertainty/test_sizes submissions/verifying/test_verifying"),
    ("metrics/iris_score/*", "submissions/benchmarks/iris/test_score submissions/benchmarks/test_scores"),
    *((f"metrics/{name}/*", "metrics/modules/test_probes") for name in PROBES),
    ("submissions/uncertainty/*", f"submissions/uncertainty {OF_IRIS} submissions/results/test_tiers"),
    ("submissions/uncertainty/*", "submissions/results/test_hostile_results submissions/benchmarks/test_resample"),
    ("submissions/reading/images.py", "submissions/reading/test_images"),
    ("submissions/reading/*", "submissions/checking/test_submission submissions/format/test_manifest"),
    ("submissions/reading/*", "submissions/reading submissions/checking/test_hostile"),
    ("submissions/benchmarks/scoring_table.py", "submissions/benchmarks/test_scores"),
    ("submissions/benchmarks/scoring_table.py", "submissions/benchmarks/genres/test_score"),
    ("submissions/benchmarks/scoring_table.py", "submissions/benchmarks/iris/test_score"),
    ("submissions/benchmarks/iris/*", "submissions/benchmarks/iris/test_measure"),
    ("submissions/benchmarks/fact_or_fair/*", "submissions/benchmarks/fact_or_fair/test_measure"),
    ("submissions/benchmarks/fact_or_fair/*", "submissions/benchmarks/fact_or_fair/test_sentences"),
    ("leaderboard_space/intake.py", "leaderboard_space/test_logged"),
    ("submissions/benchmarks/genres/*", "submissions/benchmarks/genres/test_measure"),
    ("submissions/benchmarks/stereotypical_bias/*", "submissions/benchmarks/stereotypical_bias/test_measure"),
    ("submissions/benchmarks/*", f"{OF_BENCHMARKS} submissions/standards/test_documents"),
    ("submissions/results/*", "submissions/results submissions/benchmarks/test_scoring_table"),
    ("submissions/results/*", "submissions/benchmarks/iris/test_variants submissions/uncertainty/test_label_errors"),
    ("submissions/results/*", "corruption/test_dropped_at_random"),
)
"""Pattern -> files and folders of `tests` beside the mirror of a file, the fastest and nearest first."""


def files(area: str) -> list[str]:
    found = {str(path.relative_to(ROOT)) for pattern in FILES[area] for path in ROOT.glob(pattern)}
    return sorted(name for name in found if not name.endswith("__init__.py"))


def tests_of(file: str) -> tuple[str, ...]:
    """Tests of a file that exist: its mirror, then those of `FURTHER`."""
    path = Path(file)
    name = path.parent.name if path.name == "formula.py" else path.stem
    folder = Path("tests") / (path.parent.parent if path.name == "formula.py" else path.parent)
    wanted = [folder / f"test_{name}"]
    wanted += [Path("tests", test) for pattern, tests in FURTHER if fnmatch(file, pattern) for test in tests.split()]
    return tuple(dict.fromkeys(test for place in wanted for test in _test_files(place)))


def _test_files(place: Path) -> list[str]:
    files = sorted((ROOT / place).rglob("test_*.py")) or [ROOT / f"{place}.py"]
    return [str(file.relative_to(ROOT)) for file in files if file.is_file()]
