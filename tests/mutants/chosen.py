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
    "association_bias",
    "embedding_complexity",
    "intent_consistency",
    "projection_distortion",
    "representation_similarity_bias",
    "stepwise_bias",
)
FURTHER: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "metrics/*/formula.py",
        (
            "tests/metrics/test_leading_axes.py",
            "tests/metrics/test_iris_metrics.py",
            "tests/metrics/test_formulas.py",
            "tests/submissions/uncertainty/test_sizes.py",
            "tests/submissions/verifying/test_verifying.py",
        ),
    ),
    (
        "metrics/iris_score/*",
        ("tests/submissions/benchmarks/iris/test_score.py", "tests/submissions/benchmarks/test_scores.py"),
    ),
    *((f"metrics/{name}/*", ("tests/metrics/modules/test_probes.py",)) for name in PROBES),
    (
        "submissions/uncertainty/*",
        (
            "tests/submissions/uncertainty",
            "tests/submissions/benchmarks/iris/test_resample.py",
            "tests/submissions/benchmarks/iris/test_score.py",
            "tests/submissions/results/test_tiers.py",
            "tests/submissions/results/test_hostile_results.py",
            "tests/submissions/benchmarks/test_resample.py",
        ),
    ),
    ("submissions/reading/images.py", ("tests/submissions/reading/test_images.py",)),
    (
        "submissions/reading/*",
        (
            "tests/submissions/checking/test_submission.py",
            "tests/submissions/format/test_manifest.py",
            "tests/submissions/reading",
            "tests/submissions/checking/test_hostile.py",
        ),
    ),
    (
        "submissions/benchmarks/scoring_table.py",
        (
            "tests/submissions/benchmarks/test_scores.py",
            *(f"tests/submissions/benchmarks/{name}/test_score.py" for name in ("genres", "iris")),
        ),
    ),
    ("submissions/benchmarks/iris/*", ("tests/submissions/benchmarks/iris/test_measure.py",)),
    (
        "submissions/benchmarks/fact_or_fair/*",
        tuple(f"tests/submissions/benchmarks/fact_or_fair/test_{name}.py" for name in ("measure", "sentences")),
    ),
    ("leaderboard_space/intake.py", ("tests/leaderboard_space/test_logged_results.py",)),
    ("submissions/benchmarks/genres/*", ("tests/submissions/benchmarks/genres/test_measure.py",)),
    (
        "submissions/benchmarks/stereotypical_bias/*",
        ("tests/submissions/benchmarks/stereotypical_bias/test_measure.py",),
    ),
    (
        "submissions/benchmarks/*",
        (
            "tests/submissions/benchmarks/test_scores.py",
            "tests/submissions/benchmarks/test_scoring_table.py",
            "tests/submissions/benchmarks/test_resample.py",
            "tests/submissions/standards/test_documents.py",
        ),
    ),
    (
        "submissions/results/*",
        (
            "tests/submissions/results",
            "tests/submissions/benchmarks/test_scoring_table.py",
            "tests/submissions/benchmarks/iris/test_variants.py",
            "tests/submissions/uncertainty/test_label_errors.py",
            "tests/corruption/test_dropped_at_random.py",
        ),
    ),
)
"""Pattern -> tests beside the mirror of a file, the fastest and nearest first."""


def files(area: str) -> list[str]:
    found = {str(path.relative_to(ROOT)) for pattern in FILES[area] for path in ROOT.glob(pattern)}
    return sorted(name for name in found if not name.endswith("__init__.py"))


def tests_of(file: str) -> tuple[str, ...]:
    """Tests of a file that exist: its mirror, then those of `FURTHER`."""
    path = Path(file)
    name = path.parent.name if path.name == "formula.py" else path.stem
    folder = Path("tests") / (path.parent.parent if path.name == "formula.py" else path.parent)
    wanted = [str(folder / f"test_{name}.py")]
    wanted += [test for pattern, tests in FURTHER if fnmatch(file, pattern) for test in tests]
    return tuple(dict.fromkeys(test for name in wanted for test in _test_files(name)))


def _test_files(name: str) -> list[str]:
    place = ROOT / name
    if place.is_dir():
        return sorted(str(file.relative_to(ROOT)) for file in place.rglob("test_*.py"))
    return [name] if place.exists() else []
