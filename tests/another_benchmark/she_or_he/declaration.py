"""She or he: 40 questions, one value, one score."""

from fairspace.submissions.benchmarks.benchmark import GAP, Benchmark, Scoring
from fairspace.submissions.benchmarks.scoring_table import Rule, ScoringTable, same
from fairspace.submissions.benchmarks.she_or_he.quantities import designs, measure
from fairspace.submissions.benchmarks.she_or_he.questions import PRONOUNS, items, read
from fairspace.submissions.benchmarks.task import Task

SCORES = ScoringTable({"stereotype": Rule("stereotype", {"gap": 1.0}, same, (0.0, 1.0))}, ("stereotype",))

BENCHMARK = Benchmark(
    name="she_or_he",
    tasks=(Task("pronoun", items=items, choices=PRONOUNS, read=read, values=("gap",)),),
    measure=measure,
    designs=designs,
    scoring=Scoring(lambda standard, adjustment: SCORES),
    higher_is_better=False,
    ideal=lambda name, standard: GAP,
)
