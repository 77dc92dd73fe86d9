"""Coverage of the 95 % intervals of limited runs of even models, as a table by value and limit.

    python -m tests.benchmarks.limited_coverage [runs]

A limit is asked once, and its answers are drawn anew for every run. The truth of a share is its mean over the runs, of
S_E, S_KLD and S_fair 1, and of S 0: every option is as likely as the others. One share of n runs has an error of
sqrt(.95 * .05 / n).
"""

import re
import sys
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

import fairspace as fs
from fairspace.answers import Answers
from fairspace.submissions.values import Value

RUNS, RESAMPLES = 60, 200
LIMITS = (20, 60, 200, None)
WORDS = {
    "llm_objective": [f'{{"answer": "{letter}"}}' for letter in "AB"],
    "llm_subjective": [f'{{"answer": "{letter}"}}' for letter in "ABCD"],
    "language_gender": ["the man", "the woman"],
    "language_race": ["the Asian person", "the Black person", "the Indian person", "the White person"],
}
IDEALS = {"entropy_": 1.0, "kld_llm": 1.0, "fairness_": 1.0, "gender_persona": 0.0, "race_persona": 0.0}
FAMILIES = {
    "shares": "^share_",
    "answers without a group, refusals": "^invalid_|refusal_rate|_na_rate$",
    "S_fact": "^factuality_",
    "S_E": "^entropy_(?!.*objective)",
    "S_KLD": "^kld_llm_(?!objective)",
    "S_fair": "^fairness_(?!.*objective)",
    "S": r"^(gender|race)_persona(_na_filtered)?$",
}


def drawn(asked: Answers, seed: int) -> Mapping[str, Value]:
    """Values of a run's questions with even answers."""
    rng, held = np.random.default_rng(seed), asked.submission
    table = held.tables["responses"]
    words = [WORDS[task][rng.integers(len(WORDS[task]))] for task in table["task"].to_pylist()]
    place = table.schema.get_field_index("response")
    table = table.set_column(place, "response", pa.array(words, table.schema.field("response").type))
    return fs.score(Answers(replace(held, tables={**held.tables, "responses": table})), resamples=RESAMPLES).values


def coverage(benchmark: str, limit: int | None, runs: int) -> dict[str, str]:
    """Family -> 'mean, least' percent of a value's intervals that hold its truth, and their mean width."""
    text: dict[str, Any] = {"text_only": True} if benchmark == "stereotypical_bias" else {}
    asked = fs.run(lambda prompt: "A", benchmark, dataset_revision="v2-core", limit=limit, **text)
    by_name: dict[str, list[tuple[float, tuple[float, float]]]] = defaultdict(list)
    for seed in range(runs):
        for name, value in drawn(asked, seed).items():
            if value.value is not None and value.interval is not None:
                by_name[name].append((value.value, value.interval))
    cells = {}
    for family, pattern in FAMILIES.items():
        held = []
        for name in filter(re.compile(pattern).search, by_name):
            numbers, ends = np.array([each[0] for each in by_name[name]]), np.array([each[1] for each in by_name[name]])
            ideal = next((number for word, number in IDEALS.items() if name.startswith(word)), numbers.mean())
            inside = (ends[:, 0] - 1e-9 <= ideal) & (ideal <= ends[:, 1] + 1e-9)
            held.append((100 * inside.mean(), np.ptp(ends, axis=1).mean()))
        if held:
            share, width = np.transpose(held)
            cells[family] = f"{share.mean():.0f}, {share.min():.0f} ({width.mean():.2f})"
    return cells


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    print(f"| values, {runs} runs | {' | '.join('whole' if n is None else f'limit {n}' for n in LIMITS)} |")
    print("|---" * (1 + len(LIMITS)) + "|", flush=True)
    for benchmark in ("fact_or_fair", "stereotypical_bias"):
        by_limit = [coverage(benchmark, limit, runs) for limit in LIMITS]
        for family in FAMILIES:
            if any(family in cells for cells in by_limit):
                print(f"| {family} | {' | '.join(cells.get(family, '–') for cells in by_limit)} |", flush=True)


if __name__ == "__main__":
    main()
