from tests.submissions.conftest import run as run
