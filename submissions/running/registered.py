"""The tasks and models of ours that Inspect's own commands find, by the entry point in `pyproject.toml`."""

import fairspace.submissions.running.local.models
import fairspace.submissions.tasks  # noqa: F401 - both register what they define
