"""Official labour tables as published become region files that RFS can read; each way to break them has its error."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris.labour import REGIONS, shares
from fairspace.builders.sources.labour_categories import CPS_ROWS, isco_codes
from fairspace.builders.sources.labour_shares import official
from fairspace.builders.sources.labour_tables import bls, csv_text, eurostat
from tests.builders.sources.refusals import Refusal, refuses, replaced

PEOPLE = """HOUSEHOLD DATA,,,,,,
"11. Employed persons by detailed occupation, sex, race, and Hispanic or Latino ethnicity",,,,,,
[Numbers in thousands],,,,,,
Occupation,2024,,,,,
,"Total
employed",Percent of total employed,,,,
,,Women,White,"Black or African
American",Asian,"Hispanic
or Latino"
"Total, 16 years and over","161,346",47.1,75.9,12.9,7.1,19.4
Management occupations,,,,,,
Bartenders(1),450,60.0,80.0,8.0,5.0,20.0
"Disc jockeys,\u00a0except radio",15,–,–,–,–,–
Emergency medicine physicians,100,40.0,70.0,10.0,15.0,5.0
Radiologists,100,30.0,70.0,5.0,20.0,5.0
Other physicians,"1,000",45.0,70.0,8.0,20.0,6.0
Surgeons,60,–,–,–,–,–
Carpenters,"1,178",3.0,87.0,6.0,1.5,38.5
Judges,50,40,80,9,4,.9
"Judges, magistrates, and other judicial workers",80,50.0,84.0,10.0,3.0,8.0
(1) A footnote.,,,,,,
"NOTE: Dash indicates no data.",,,,,,
"""
AGES = """11b. Employed persons by detailed occupation and age,,,,,,,,,
Occupation,2024,,,,,,,,
,"Total, 16 years and over",16 to 19 years,20 to 24 years,25 to 34 years,35 to 44 years,45 to 54 years,55 to 64 years,\
65 years and over,Median age
"Total, 16 years and over","161,346","5,560","14,000","36,000","36,000","32,000","26,500","11,286",42.2
Bartenders,450,10,90,160,80,60,40,10,33.0
Carpenters,"1,178",30,110,280,290,220,190,58,41.5
"Judges, magistrates, and other judicial workers",80,–,1,9,20,20,20,10,52.1
"""


@pytest.fixture
def cps(tmp_path: Path) -> Path:
    (tmp_path / "cpsaat11.csv").write_text(PEOPLE)
    (tmp_path / "cpsaat11b.csv").write_text("\ufeff" + AGES)
    return tmp_path


def test_cps_tables_give_the_shares_of_the_paper_s_proxies(cps: Path) -> None:
    found = {row.occupation: row for row in bls(cps).rows}
    assert list(found) == ["bartender", "carpenter", "judge"]
    assert found["bartender"].official == "Bartenders"
    # 10 + 90 + 160 + 80 / 2 of 450 are young, 80 / 2 + 60 + 40 middle-aged; light is 80 - 20, dark 8.
    assert dict(found["bartender"].percent) == pytest.approx(
        {
            **{"female": 60, "male": 40},
            **{"young": 100 * 300 / 450, "middle-aged": 100 * 140 / 450, "older": 100 * 10 / 450},
            **{"light": 60, "middle": 32, "dark": 8},
        }
    )
    assert found["carpenter"].percent["young"] == pytest.approx(100 * (30 + 110 + 280 + 145) / 1178)


def test_a_dash_in_an_age_band_is_none_only_where_the_others_add_up(cps: Path) -> None:
    judge = next(row for row in bls(cps).rows if row.occupation == "judge")
    assert judge.percent["older"] == pytest.approx(100 * 10 / 80)
    assert judge.percent["young"] == pytest.approx(100 * (1 + 9 + 10) / 80)
    file = cps / "cpsaat11b.csv"
    file.write_text(file.read_text().replace("80,–,1,9,20,20,20,10", "80,–,1,–,–,20,20,10"))
    assert "not published" in bls(cps).missing["judge"]


def test_occupations_without_figures_are_named_with_the_reason(cps: Path) -> None:
    found = bls(cps)
    assert {row.occupation for row in found.rows} | set(found.missing) == set(official("US"))
    assert found.missing["soldier"] == "the survey counts civilians"
    assert found.missing["nurse"] == "no row Registered nurses"
    for name in ("Disc jockeys, except radio", "Surgeons"):
        file = cps / "cpsaat11b.csv"
        file.write_text(file.read_text() + f'"{name}",60,0,10,20,10,10,5,5,\n')
    assert bls(cps).missing["disk_jockey"] == "figures of Disc jockeys, except radio are not published"


def test_rows_that_stand_together_are_weighted_by_persons(cps: Path) -> None:
    people, ages = cps / "cpsaat11.csv", cps / "cpsaat11b.csv"
    people.write_text(people.read_text().replace("Surgeons,60,–,–,–,–,–", "Surgeons,300,20.0,75.0,5.0,15.0,5.0"))
    for name, total in (("Emergency medicine physicians", 100), ("Radiologists", 100), ("Other physicians", 1000)):
        ages.write_text(ages.read_text() + f'{name},"{total:,}",0,0,{total},0,0,0,0,30\n')
    ages.write_text(ages.read_text() + "Surgeons,300,0,0,0,0,0,0,300,70\n")
    doctor = next(row for row in bls(cps).rows if row.occupation == "doctor")
    assert doctor.percent["female"] == pytest.approx(100 * (40 + 30 + 450 + 60) / 1500)
    assert doctor.percent["older"] == pytest.approx(20)
    assert doctor.official.count("+") == 3


def test_a_region_file_of_the_figures_is_read_by_the_scorer(cps: Path) -> None:
    file = cps / "labour_us_new.csv"
    file.write_text(csv_text(bls(cps)))
    table = shares(replace(REGIONS[0], file=file))
    assert set(table) == {"gender", "age", "skin"}
    assert table["skin"][OCCUPATIONS.index("bartender")] == pytest.approx([0.60, 0.32, 0.08])


CPS_REFUSALS = (
    Refusal(
        "no total row", replaced("Total, 16 years and over", "All"), "SOURCE_LAYOUT", "11.csv", "no row that starts"
    ),
    Refusal("no heading", replaced("Women", "Men"), "SOURCE_LAYOUT", ":10", "no column women"),
    Refusal("empty", lambda good: b"", "SOURCE_LAYOUT", "11.csv", "no row that starts"),
    Refusal("not UTF-8", replaced("450,", b"450,\x96"), "SOURCE_LAYOUT", ":12", "the byte 0x96"),
    Refusal("a word", replaced("450", "many"), "SOURCE_VALUE", ":12", "the figure 'many'"),
    Refusal("a comma", replaced('"1,178"', '"1,17"'), "SOURCE_VALUE", ":18", "the figure '1,17'"),
    Refusal("a negative", replaced("60.0,80.0", "-60.0,80.0"), "SOURCE_VALUE", ":12", "the figure '-60.0'"),
    Refusal("over 100", replaced("60.0,80.0", "160.0,80.0"), "SOURCE_VALUE", ":12", "the figures"),
    Refusal("columns moved", replaced("80.0,8.0,5.0,20.0", "8.0,80.0,5.0,20.0"), "SOURCE_VALUE", ":12", "the figures"),
)


@pytest.mark.parametrize("refusal", CPS_REFUSALS, ids=lambda r: r.name)
def test_a_cps_table_that_breaks_the_layout_is_refused(cps: Path, refusal: Refusal) -> None:
    refuses(lambda: bls(cps), refusal, cps / "cpsaat11.csv")


def test_ages_that_do_not_add_up_are_refused(cps: Path) -> None:
    change = replaced("Bartenders,450", "Bartenders,540")
    refuses(lambda: bls(cps), Refusal("", change, "SOURCE_VALUE", ":5", "add up to 450"), cps / "cpsaat11b.csv")


def test_every_occupation_with_us_figures_has_rows_but_soldiers() -> None:
    assert set(official("US")) - set(CPS_ROWS) == {"soldier"}
    assert set(CPS_ROWS) <= set(official("US"))


EU_CELLS = {
    ("OC22", "F", "Y_GE15"): "600.0 ",
    ("OC22", "M", "Y_GE15"): "400.0 b",
    ("OC22", "T", "Y15-39"): "500.5 ",
    ("OC22", "T", "Y40-64"): "400.0 ",
    ("OC22", "T", "Y_GE65"): "99.5 bu",
    ("OC32", "F", "Y_GE15"): "300.0 ",
    ("OC32", "M", "Y_GE15"): "100.0 ",
    ("OC32", "T", "Y15-39"): "200.0 ",
    ("OC32", "T", "Y40-64"): "190.0 ",
    ("OC32", "T", "Y_GE65"): "10.0 ",
    ("OC23", "F", "Y_GE15"): "700.0 ",
    ("OC23", "M", "Y_GE15"): "300.0 ",
    ("OC23", "T", "Y15-39"): "400.0 ",
    ("OC23", "T", "Y40-64"): "550.0 ",
    ("OC23", "T", "Y_GE65"): ": u",
    ("OC23", "T", "Y_GE15"): "1000.0 ",
    ("OC23", "T", "Y15-64"): "950.0 ",
    ("OC54", "F", "Y_GE15"): ": ",
    **{(f"OC0{part}", "F", "Y_GE15"): "1.0 " for part in (1, 2, 3)},
    **{(f"OC0{part}", "M", "Y_GE15"): "9.0 " for part in (1, 2, 3)},
    **{(f"OC0{part}", "T", "Y15-39"): "6.0 " for part in (1, 2, 3)},
    **{(f"OC0{part}", "T", "Y40-64"): "3.0 " for part in (1, 2, 3)},
    **{(f"OC0{part}", "T", "Y_GE65"): "1.0 " for part in (1, 2, 3)},
}


EUROSTAT = "\n".join(
    (
        "freq,isco08,sex,age,unit,geo\\TIME_PERIOD\t2023 \t2024 ",
        *(f"A,{code},{sex},{age},THS_PER,EU27_2020\t1.0 \t{cell}" for (code, sex, age), cell in EU_CELLS.items()),
        "A,OC22,F,Y_GE15,THS_PER,AT\t5.0 \t7.0 ",
        "A,TOTAL,F,Y_GE15,THS_PER,EU27_2020\t: \t: ",
        "",
    )
)


@pytest.fixture
def eu(tmp_path: Path) -> Path:
    (tmp_path / "lfsa_egai2d.tsv").write_text(EUROSTAT)
    return tmp_path


def test_eurostat_gives_shares_by_two_digit_groups(eu: Path) -> None:
    found = eurostat(eu)
    rows = {row.occupation: row for row in found.rows}
    assert list(rows) == ["doctor", "nurse", "teacher", "soldier"]
    assert dict(rows["doctor"].percent) == pytest.approx(
        {"female": 60, "male": 40, "young": 50.05, "middle-aged": 40, "older": 9.95}
    )
    assert rows["doctor"].official == "OC22 (for 221: Medical Doctors)"
    assert rows["nurse"].percent["female"] == pytest.approx(100 * 900 / 1400)
    assert rows["teacher"].percent["older"] == pytest.approx(5)
    assert rows["soldier"].percent["female"] == pytest.approx(10)
    assert "doctor, older: flagged bu" in found.notes
    assert found.missing["guard"] == "OC54: female, male, young, middle-aged, older not published"
    assert set(rows) | set(found.missing) == set(official("EU"))
    file = eu / "labour_eu_new.csv"
    file.write_text(csv_text(found))
    assert set(shares(replace(REGIONS[1], file=file))) == {"gender", "age"}


def test_eurostat_reads_packed_files_and_another_year_and_area(eu: Path) -> None:
    good = eurostat(eu)
    plain = eu / "lfsa_egai2d.tsv"
    (eu / "estat_lfsa_egai2d.tsv.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    assert eurostat(eu) == good
    assert eurostat(eu, year="2023").rows[0].percent["female"] == pytest.approx(50)
    assert not eurostat(eu, geo="AT").rows


@pytest.mark.parametrize("cut", [8, 60, -4])
def test_a_damaged_gzip_file_is_refused(eu: Path, cut: int) -> None:
    packed = eu / "estat_lfsa_egai2d.tsv.gz"
    packed.write_bytes(gzip.compress((eu / "lfsa_egai2d.tsv").read_bytes())[:cut])
    with pytest.raises(BuildError, match=r"SOURCE_LAYOUT.*gzip"):
        eurostat(eu)


EU_REFUSALS = (
    Refusal("no dimension", replaced("isco08,", ""), "SOURCE_LAYOUT", ":1", "the heading"),
    Refusal("commas", replaced("\t2023", ",2023"), "SOURCE_LAYOUT", ":1", "the heading"),
    Refusal("empty", lambda good: b"", "SOURCE_LAYOUT", ":1", "the heading ''"),
    Refusal("codes", replaced("A,OC22,M,", "A,OC22,"), "SOURCE_LAYOUT", ":3", "the codes"),
    Refusal("short row", replaced("400.0 b", "400.0 b\t5"), "SOURCE_LAYOUT", ":3", "4 cells"),
    Refusal("cell", replaced("400.0 b", "400,0 b"), "SOURCE_VALUE", ":3", "'400,0 b'"),
    Refusal("negative", replaced("400.0 b", "-400.0"), "SOURCE_VALUE", ":3", "'-400.0'"),
    Refusal("twice", replaced("A,OC22,M,", "A,OC22,F,"), "SOURCE_LAYOUT", ":3", "twice"),
    Refusal("no area", lambda good: good.replace(b"EU27_2020", b"EU28"), "SOURCE_LAYOUT", ".tsv", "none"),
)


@pytest.mark.parametrize("refusal", EU_REFUSALS, ids=lambda r: r.name)
def test_a_eurostat_table_that_breaks_the_layout_is_refused(eu: Path, refusal: Refusal) -> None:
    refuses(lambda: eurostat(eu), refusal, eu / "lfsa_egai2d.tsv")


def test_a_year_that_is_not_there_is_refused(eu: Path) -> None:
    with pytest.raises(BuildError, match=r"SOURCE_LAYOUT.*no column 1999.*2023 to 2024"):
        eurostat(eu, year="1999")


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"SOURCE_MISSING.*lfsa_egai2d\.tsv"):
        eurostat(tmp_path)
    with pytest.raises(BuildError, match=r"SOURCE_MISSING.*cpsaat11\.csv"):
        bls(tmp_path)


@pytest.mark.parametrize(
    ("category", "codes"),
    [
        ("222/322: Nursing Professionals", (("OC22", "OC32"),)),
        ("7115: Carpenters and Joiners", (("OC71",),)),
        ("0: Armed Forces Occupations", (("OC0",), ("OC01", "OC02", "OC03"))),
    ],
)
def test_isco_categories_have_eurostat_s_codes(category: str, codes: tuple[tuple[str, ...], ...]) -> None:
    assert isco_codes(category) == codes
