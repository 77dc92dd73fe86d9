import re
from itertools import product

import numpy as np
import pytest
from scipy import stats

from fairspace.metrics.iris_score.formula import profile_code
from fairspace.metrics.iris_score.standards import ARCHETYPES, INAUGURAL
from fairspace.submissions.standards.validation import published_cohort
from tests.metrics.tables import ROOT, rows

TEXT = (ROOT / "cards" / "errata.md").read_text(encoding="utf-8")
IDS = re.findall(r"^## (E-[A-Z]+-\d\d)$", TEXT, re.M)
REFERENCE = re.compile(r"\bE-(?:IRIS|ARES|FOF|STEREO|GENRES)-\d\d\b")
FOLDERS = ("ares", "builders", "cards", "leaderboard_space", "metrics", "submissions", "tests")


def section(name: str) -> str:
    return TEXT.split(f"## {name}\n")[1].split("\n## ")[0]


def test_every_entry_has_its_own_identifier() -> None:
    assert len(IDS) == len(set(IDS)) == 63


def test_every_entry_says_what_fairspace_does() -> None:
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


def test_printed_magnitude_of_ifs_und_is_no_norm_of_its_columns() -> None:
    ratios = []
    for row in rows("iris_table26_ifs_und"):
        columns = [float(row[c]) for c in row if c.startswith(("AD_", "SPD_"))]
        ratios.append(float(row["magnitude"]) / float(np.linalg.norm(columns)))
    assert (min(ratios), max(ratios)) == pytest.approx((0.996, 1.065), abs=0.0005)


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
    distances = published_cohort().sector_squares.sum(axis=1)
    for scale, rho in ((1.0, 0.9643), (0.01, 1.0)):  # Table 7 prints 0.9643; a cosine's fall would move no rank
        sil = [falls[m][2] if falls.get(m, [""])[0] == "SIL" else 0.0 for m in INAUGURAL.cohort]
        without = distances - np.square(np.log1p(scale * np.array(sil)))
        assert stats.spearmanr(distances, without).statistic == pytest.approx(rho, abs=5e-5)


def test_association_differences_are_printed_without_their_sign() -> None:
    signed = {
        (row["model"], row["occupation"]): float(row["male_assoc"]) - float(row["female_assoc"])
        for row in rows("probe_table30_34_m_iat")
    }
    for row in rows("probe_table30_34_m_iat"):
        found = abs(signed[row["model"], row["occupation"]])
        assert found == pytest.approx(float(row["abs_difference"]), abs=0.00015 + 1e-9)
    assert sum(difference < 0 for difference in signed.values()) == 6
    assert len(signed) == 16


def test_six_rows_do_not_support_the_counter_stereotype_reward() -> None:
    against = {}
    for row in rows("probe_table36_37_energy"):
        magnitude, ratio = (
            float(row[f"counter_{kind}"]) - float(row[f"stereo_{kind}"]) for kind in ("magnitude", "pr")
        )
        if magnitude <= 0 or ratio <= 0:
            against[row["model"], row["occupation"]] = (round(magnitude, 2), round(ratio, 2))
    lower = {occupation: ratio for (_, occupation), (_, ratio) in against.items() if ratio < 0}
    assert lower == {"machinist": -0.46, "painter": -0.41, "climber": -0.78}
    assert {occupation for (_, occupation), (magnitude, _) in against.items() if magnitude < 0} == {
        "drummer",
        "guitarist",
        "hairdresser",
    }
    assert len(rows("probe_table36_37_energy")) - len(against) == 14
    assert all(f"{ratio} ({occupation})" in section("E-IRIS-13") for occupation, ratio in lower.items())


def test_table_35_prints_numbers_far_from_the_similarities_of_table_31() -> None:
    harmon = [float(cell) for row in rows("probe_table35_harmon") for name, cell in row.items() if name != "occupation"]
    assert (min(harmon), max(harmon)) == (-0.0048, 0.0068)
    assert all(0.69 < float(row["counter_similarity"]) < 0.78 for row in rows("probe_table31_rsa"))


def test_table_2_without_the_misprint() -> None:
    row = next(row for row in rows("fof_table2_summary") if row["model"] == "FLUX-1.1")
    gender, race = float(row["subj_fair_gender"]), 70.304
    race_average = (float(row["obj_fact_race"]) + race) / 2
    corrected = ((gender + race) / 2, race_average, (float(row["avg_gender"]) + race_average) / 2)
    assert corrected == pytest.approx((80.98, 46.90, 58.63), abs=0.0081)


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
