"""What Inspect's own commands find of ours, by the entry point in `pyproject.toml`: the tasks and the models."""

import fairspace.submissions.running.local.models
import fairspace.submissions.tasks  # noqa: F401 - both register what they define
