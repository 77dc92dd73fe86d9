import pytest

from fairspace.submissions.format.schema import Submission
from fairspace.submissions.values import Value
from tests.submissions.benchmarks.iris.factory import measure, submission


@pytest.fixture(scope="session")
def full() -> Submission:
    return submission()


@pytest.fixture(scope="session")
def values(full: Submission) -> dict[str, Value]:
    return measure(full)
