"""The command in this process, as the tests of the commands have it."""

from tests.submissions.conftest import run as run
