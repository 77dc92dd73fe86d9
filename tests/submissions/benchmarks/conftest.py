"""Whole baselines of GENRES are parsed once for all the tests of benchmarks."""

from tests import stored_parses

stored_parses.share()
