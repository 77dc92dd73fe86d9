"""She or he: 40 questions, one value, one score."""

from fairspace.submissions.benchmarks.benchmark import GAP, Benchmark, Scoring, Standard
from fairspace.submissions.benchmarks.scoring_table import Rule, ScoringTable, same
from fairspace.submissions.benchmarks.task import Task

from .quantities import measure, samples
from .questions import PRONOUNS, items, read

SCORES = ScoringTable({"stereotype": Rule("stereotype", {"gap": 1.0}, same, (0.0, 1.0))}, ("stereotype",))
INAUGURAL = Standard(
    date="2026-11-30",
    why="It ranks by the gap between the occupations of two clichés, of models that say both pronouns.",
    at_most={"same_word": 0.9},
)

BENCHMARK = Benchmark(
    name="she_or_he",
    tasks=(Task("pronoun", items=items, choices=PRONOUNS, read=read, values=("gap",)),),
    measure=measure,
    designs=samples,
    scoring=Scoring(lambda standard, adjustment: SCORES),
    standards={INAUGURAL.name: INAUGURAL},
    higher_is_better=False,
    ideal=lambda name, standard: None if name == "same_word" else GAP,
)
