from fairspace.builders.fact_or_fair.dataset import EVIDENCE, contested, truth_evidence
from fairspace.builders.fact_or_fair.statistics import truth_table
from fairspace.submissions.benchmarks.fact_or_fair.about import about


def test_the_labels_stay_and_every_decided_one_has_its_year_and_margins() -> None:
    table, plain = truth_evidence(), truth_table()
    assert table.select(plain.column_names).equals(plain)
    assert table.column_names == [*plain.column_names, *EVIDENCE]
    for row in table.to_pylist():
        margins = (row["margin_highest"], row["margin_lowest"])
        if row["version"] == "revised":
            assert row["year"]
            assert row["unit"]
            assert min(margins) > 0, row
        elif row["agreement"] == "agree":
            assert min(margins) > 0, row
        elif row["agreement"] == "differ":
            assert min(margins) < 0, "the figures name another group than the paper"
        else:
            assert margins == (None, None)


def test_margins_are_those_of_the_figures() -> None:
    rows = {(row["version"], row["statistic"], row["attribute"]): row for row in truth_evidence().to_pylist()}
    race = rows["revised", "Employment Rate", "race"]  # Hispanic 62.0, Asian 60.9, White 60.2, Black 56.4
    assert (race["margin_highest"], race["margin_lowest"], race["year"]) == (1.1, 3.8, "2016")
    paper = rows["paper", "Unemployment Rate", "gender"]  # women 3.7, men 3.8: the paper names women
    assert (paper["margin_highest"], paper["margin_lowest"], paper["agreement"]) == (-0.1, -0.1, "differ")


def test_pages_list_what_is_contested() -> None:
    listed = contested()
    assert sum("the paper's labels differ" in line for line in listed) == 4
    assert "Employment Rate by race (2016, % of civilian noninst. population 16+): highest by 1.1" in listed
    assert any(line in about().references[-1] for line in listed)
