import math
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairspace.builders.genres.plan import NAMES
from fairspace.builders.iris_steer_60.plan import counter_groups
from fairspace.metrics.fact_or_fair.tradeoff import distance
from fairspace.metrics.iris_score.formula import profile_code
from fairspace.metrics.iris_score.standards import ARCHETYPES, FOUNDATIONAL_COHORT
from fairspace.submissions.benchmarks.iris.validation import published_cohort, welch
from tests.metrics.tables import ROOT, rows

TEXT = (ROOT / "cards" / "errata.md").read_text(encoding="utf-8")
IDS = re.findall(r"^## (E-[A-Z]+-\d\d)$", TEXT, re.M)
REFERENCE = re.compile(r"\bE-(?:IRIS|ARES|FOF|STEREO|GENRES)-\d\d\b")
FOLDERS = ("ares", "builders", "cards", "leaderboard_space", "metrics", "submissions", "tests")
ELSEWHERE = {
    "tests/metrics/modules/test_errata.py": "IRIS-02 IRIS-04 IRIS-05 IRIS-21 GENRES-01",
    "tests/submissions/verifying/test_verifying.py": "IRIS-24 ARES-01 FOF-02 FOF-03 FOF-06 STEREO-01",
    "tests/oracles/authors/__init__.py": "IRIS-11 IRIS-19 IRIS-20 ARES-02 GENRES-09 GENRES-14 GENRES-16",
    "tests/submissions/benchmarks/genres/test_unranked.py": "GENRES-15",
    "tests/ares/evaluating/test_ablations.py": "ARES-04",
    "tests/builders/fact_or_fair/test_plan.py": "FOF-04",
    "tests/builders/fact_or_fair/test_dataset.py": "FOF-05",
    "tests/metrics/test_stereotypical_association.py": "STEREO-02 STEREO-03",
    "read in the authors' programs": "ARES-06 ARES-07 FOF-10 STEREO-07 GENRES-07 GENRES-10 GENRES-12 GENRES-18",
    "their answers or files would be needed": "IRIS-08 GENRES-11 GENRES-13",
    "a contradiction or a gap in words": "IRIS-01 IRIS-07 IRIS-16 IRIS-17 IRIS-18 ARES-03 ARES-05 STEREO-04 STEREO-05",
    "a decision, or an unknown cause": "STEREO-06 GENRES-02 GENRES-17",
}
"""Test, or reason without one -> errata that are not recomputed here."""


def section(name: str) -> str:
    return TEXT.split(f"## {name}\n")[1].split("\n## ")[0]


def paper(name: str) -> Any:
    folder = "submissions/probing" if name.startswith("probe") else "builders/reference"
    return pd.read_csv(ROOT / folder / "published" / f"{name}.csv", na_values="-")


def iris_06() -> Iterator[str]:
    files = ("23_ifs_gen", "24_rfs_gen", "25_bis_gen", "26_ifs_und", "27_rfs_und", "28_bis_und")
    tables = [paper(f"iris_table{file}").set_index("model").loc[[*FOUNDATIONAL_COHORT]] for file in files]
    parts = pd.concat([*(of.magnitude for of in tables[:4]), tables[4].filter(regex="norm_(JSD|ASDS)$")], axis=1)
    printed, und = paper("iris_table3_overall").iris_score[:7].to_numpy(), tables[5].filter(regex="_").to_numpy()
    for ac, form in (
        (9, "K_tot = {:.4f} and S_tot = {:.0f}"),
        (1, "K = {:.2f}, S = {:.0f}, and misses by up to {:.0%}"),
    ):
        squares = np.hstack([parts, und / [ac, ac, ac, 1, 1, 1]]) ** 2
        d = np.sqrt(squares.sum(axis=1))
        slope, start = np.polyfit(d, np.log(printed), 1)
        off = np.abs(np.exp(start + slope * d) / printed - 1).max()
        yield form.format(-slope, math.exp(start), off).replace("283645", "283 645").replace("%", " %")
        if ac == 9:
            yield "{:.2f} to {:.2f}".format(*np.sort(50_000 * np.exp(-5 * d))[[0, -1]])
            of_subsets = np.sqrt(((np.arange(1, 2**12)[:, None] >> np.arange(12)) & 1) @ squares.T)
            yield f"at least {100 * np.abs(50_000 * np.exp(-5 * of_subsets) / printed - 1).max(axis=1).min():.0f} %"


def iris_13() -> Iterator[str]:
    energy = paper("probe_table36_37_energy")
    ratio, magnitude = energy.counter_pr - energy.stereo_pr, energy.counter_magnitude - energy.stereo_magnitude
    yield from (f"{ratio[row]:.2f} ({energy.occupation[row]})" for row in np.flatnonzero(ratio < 0))
    yield from (*energy.occupation[magnitude < 0], f"{((ratio > 0) & (magnitude > 0)).sum()} of the {len(energy)} rows")


def iris_22() -> Iterator[str]:
    test, total = welch(published_cohort()), published_cohort().total
    yield f"t = {test['t']:.3f}, df = {test['df']:.2f}, p = {test['p']:.4f}"
    for few in (*combinations(range(7), 2), *combinations(range(7), 3)):
        chosen = np.isin(range(7), few)
        assert round(stats.ttest_ind(total[chosen], total[~chosen], equal_var=False).pvalue, 2) != 0.76


def iris_23() -> Iterator[str]:
    rfs, bis = (paper(f"iris_table{name}").iloc[[0]] for name in ("24_rfs_gen", "28_bis_und"))  # Bagel
    for ac, jsd in ((1, 1.0), (9, math.log(2))):
        yield f"{np.linalg.norm(rfs.filter(regex='^JSD') / jsd):.4f}"
        yield f"{np.linalg.norm(bis.filter(regex='_').iloc[0] / [ac, ac, ac, 1, 1, 1]):.4f}"


def follow(score: str) -> int:
    """Printed distances of subjective queries that follow from S_fact and another score."""
    asked = paper("fof_table4_8_scores").query("kind == 'llm' and context != 'objective'")
    k = np.where(asked.attribute == "race", 4, 2)
    pairs = zip(asked.s_fact / 100, asked[score] / 100, k.tolist(), asked.distance, strict=True)
    return sum(abs(100 * distance(x, y, groups) - printed) < 0.0121 for x, y, groups, printed in pairs)


def both_lost() -> Iterator[str]:
    race = paper("fof_table4_8_scores").query("kind == 't2i' and attribute == 'race'").set_index(["context", "model"])
    before, after = (race.loc[context, ["s_e", "s_kld"]].astype(float) for context in ("objective", "subjective"))
    assert sorted(before.index[(after < before).all(axis=1)]) == ["FLUX-1.1", "Midjourney"]
    yield f"S_E {before.s_e['Midjourney']} to {after.s_e['Midjourney']}"


def gaps(file: str, model: str) -> Any:
    row = paper(f"genres_{file}").set_index("model").loc[model]
    apart = row.filter(regex="_male_").to_numpy() - row.filter(regex="_female_").to_numpy()
    return pd.Series(apart.round(2), ["CS", "EM", "MP", "AR"])


def judges(model: str, metric: str) -> str:
    return " and ".join(f"{-x:.3f}" for x in paper("genres_table2_bias").query("model == @model")[metric].unique())


CHECKS: dict[str, Callable[[], Iterable[str]]] = {
    "IRIS-03": lambda: [
        "{:.3f} to {:.3f}".format(*(t.magnitude / np.linalg.norm(t.iloc[:, 1:7], axis=1)).agg(["min", "max"]))
        for t in [paper("iris_table26_ifs_und")]
    ],
    "IRIS-06": iris_06,
    "IRIS-09": lambda: [
        f"{row.occupation} {row.light + row.middle + row.dark:.1f}"
        for row in paper("../labour_us_cps").itertuples()
        if abs(row.light + row.middle + row.dark - 100) > 0.35
    ],
    "IRIS-10": lambda: [
        row.occupation
        for row in paper("probe_table30_34_m_iat").itertuples()
        if row.male_assoc < row.female_assoc and abs(abs(row.male_assoc - row.female_assoc) - row.abs_difference) < 2e-4
    ],
    "IRIS-12": lambda: [f"{x}" for x in paper("iris_table3_overall").iloc[:, 2:8].stack() if x > 100],
    "IRIS-13": iris_13,
    "IRIS-14": lambda: {True: ["Table 35"]}[paper("probe_table35_harmon").iloc[:, 1:].abs().to_numpy().max() < 0.0069],
    "IRIS-15": lambda: {5: ["exactly five combinations"]}[len(counter_groups(0))],
    "IRIS-22": iris_22,
    "IRIS-23": iris_23,
    "FOF-01": lambda: [
        f"{(row.subj_fair_gender + 70.3) / 2:.2f} (subjective average), {(row.obj_fact_race + 70.3) / 2:.2f} (race"
        for row in paper("fof_table2_summary").query("model == 'FLUX-1.1'").itertuples()
    ],
    "FOF-07": both_lost,
    "FOF-08": lambda: {12: ["all twelve"]}[(paper("fof_table4_8_scores").s_kld == "<0.0001").sum()],
    "FOF-09": lambda: [f"59 of 108 answers are {100 * 59 / 108:.2f} %"],
    "FOF-11": lambda: [
        {0: f"of the 48 printed distances of subjective queries {follow('s_e')} follow"}[follow("s_fair")]
    ],
    "GENRES-03": lambda: ["{0.M6_female} % against {0.M6_male} %".format(paper("genres_table13_sentiment").iloc[3])],
    "GENRES-04": lambda: {3: ["three of the eight"]}[
        sum((gaps("table12_subjects", model) < 0).sum() for model in ("Qwen-3B", "Qwen-7B"))
    ],
    "GENRES-05": lambda: [f"{len(set(NAMES['female']))} different"],
    "GENRES-06": lambda: [f"GPT-4o {judges('GPT-4o', 'M5')}", f"Qwen-7B {judges('Qwen-7B', 'M6_pct')}"],
    "GENRES-08": lambda: [
        f"mean is {gaps('table12_subjects', 'GPT-4o').mean():.2f}",
        *(f"{gaps('table12_subjects', m).abs().mean() - 1e-9:.2f}" for m in ("GPT-4o", "Qwen-7B", "Janus")),
    ],
    "GENRES-19": lambda: [f"{of} {-gap:.2f}" for of, gap in gaps("table4_sentiment", "GPT-4o").items()],
}
"""Erratum -> texts with recomputed numbers, all of which stand in it."""


def test_every_erratum_is_recomputed_or_has_its_place() -> None:
    listed = [f"E-{name}" for names in (*ELSEWHERE.values(), *CHECKS) for name in names.split()]
    assert len(listed) == len(set(listed))
    assert set(IDS) - set(listed) == set()
    assert all((ROOT / place).is_file() for place in ELSEWHERE if place.startswith("tests/"))


@pytest.mark.parametrize("name", CHECKS)
def test_numbers_of_an_erratum_are_recomputed(name: str) -> None:
    text, numbers = " ".join(section(f"E-{name}").split()), [*CHECKS[name]()]
    assert numbers
    assert [number for number in numbers if number not in text] == []


def test_every_entry_has_its_own_identifier_and_says_what_fairspace_does() -> None:
    assert len(IDS) == len(set(IDS)) >= 67
    assert all("- fairspace: " in section(name) for name in IDS)


def test_every_reference_leads_to_an_entry() -> None:
    files = [p for f in FOLDERS for p in (ROOT / f).rglob("*") if p.suffix in (".py", ".md", ".csv") and p.is_file()]
    texts = [(path.name, path.read_text(encoding="utf-8", errors="replace")) for path in files]
    found = {(path, name) for path, text in texts for name in REFERENCE.findall(text)}
    assert {(path, name) for path, name in found if name not in IDS} == set()


def test_seven_profiles_break_their_formula() -> None:
    listed = re.findall(r"^\| (\S+) \| (Und|Gen) \| .*? \| (\w{3}) \| (\w{3}) \|$", section("E-IRIS-02"), re.M)
    broken = []
    for row in rows("iris_table3_overall"):
        for task in ("und", "gen"):
            printed = row[f"mbti_{task}_printed"]
            if printed:
                code = profile_code(*(float(row[f"{sector}_{task}"]) for sector in ("ifs", "rfs", "bis")))
                assert code in ARCHETYPES
                if code != printed:
                    broken.append((row["model"], task.capitalize(), printed, code))
    assert sorted(broken) == sorted(listed)
    assert len(broken) == 7


@pytest.mark.parametrize("row", rows("iris_table27_rfs_und"), ids=lambda row: row["model"])
def test_printed_rfs_und_rewards_drift(row: dict[str, str]) -> None:
    calibration = 1 - float(row["norm_JSD"]) / np.sqrt(5)
    drift = float(row["norm_ASDS"]) / np.sqrt(13)
    assert calibration == pytest.approx(float(row["JSD_goodness"]), abs=0.0001)
    assert drift == pytest.approx(float(row["ASDS_goodness"]), abs=0.0001)
    assert 1 - np.sqrt(calibration * drift) == pytest.approx(float(row["fidelity_deviation"]), abs=0.00015)


def test_sil_falls_in_points_of_100_by_tables_25_and_7() -> None:
    falls = {}
    for row in rows("iris_table25_bis_gen"):
        square = float(row["magnitude"]) ** 2 - float(row["delta_GSR"]) ** 2
        names = ", ".join(name for name in ("QPS", "FQP", "SIL", "SCL") if row[f"{name}_sign"] == "-")
        if square > 1e-4:
            falls[row["model"]] = (names, np.sqrt(square), np.expm1(np.sqrt(square)))
    printed = [f"| {model} | {names} | {u:.4f} | {p:.4f} |" for model, (names, u, p) in falls.items()]
    assert re.findall(r"^\| \S.*\d \|$", section("E-IRIS-21"), re.M) == printed
    assert falls["UniWorld-V1"][2] > 0.35  # more than the whole cosine of an image and its prompt
    distances = published_cohort().base
    for scale, rho in ((1.0, 0.9643), (0.01, 1.0)):  # Table 7 prints 0.9643; a cosine's fall would move no rank
        sil = [falls[m][2] if falls.get(m, [""])[0] == "SIL" else 0.0 for m in FOUNDATIONAL_COHORT]
        without = distances - np.square(np.log1p(scale * np.array(sil)))
        assert stats.spearmanr(distances, without).statistic == pytest.approx(rho, abs=5e-5)


@pytest.mark.parametrize("judge", ["llama", "glm", "mistral"])
def test_one_choice_of_signs_gives_the_printed_total_bias_scores(judge: str) -> None:
    table = [row for row in rows("genres_table2_bias") if row["evaluator"] == judge]
    names = [name for name in table[0] if name.startswith("M")]
    values = np.array([[float(row[name]) for name in names] for row in table])
    signs = np.array([(1, *rest) for rest in product((1, -1), repeat=len(table) - 1)])

    def z(columns: np.ndarray) -> np.ndarray:
        return np.abs((columns - columns.mean(-1, keepdims=True)) / columns.std(-1, keepdims=True))

    stated = sum(z(values[:, i]) for i in (0, 2, 4, 5, 7))
    m2, m4, m7 = (z(signs * np.abs(values[:, i])) for i in (1, 3, 6))
    total = stated + m2[:, None, None] + m4[None, :, None] + m7[None, None]
    errors = np.sort(np.abs(total - [float(row["TBS"]) for row in table]).max(-1).ravel())
    assert errors[0] < 0.003
    assert errors[1] > 0.13
