"""No test reaches another host, and none reads or fills a cache of the person who runs it."""

import os
import tempfile

import pytest

os.environ.update(
    {
        "HF_HUB_OFFLINE": "1",
        "HF_EVALUATE_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        "GRADIO_ANALYTICS_ENABLED": "False",
        "FAIRSPACE_RESAMPLES": "0",  # tests of intervals ask for their own
        "HF_HOME": tempfile.mkdtemp(prefix="fairspace-hf-"),
    }
)

LONGEST = (
    "tests/ares/annotating/test_annotate.py",  # trains the model that others wait for
    "tests/test_publish_loop.py",  # builds the samples that others read
    "tests/test_invariants.py",
    "tests/submissions/running/test_runs_killed.py",
    "tests/submissions/running/test_runs_stopped.py",
    "tests/submissions/running/test_runs.py",
    "tests/submissions/running/judging/test_judging.py",
    "tests/submissions/running/local/test_transformers_path.py",
    "tests/ares/training/test_processes.py",
    "tests/submissions/running/images/test_diffusers.py",
    "tests/builders/iris_classifier_25/test_dataset.py",
    "tests/builders/iris_ideal_52/test_dataset.py",
    "tests/ares/evaluating/test_evaluate.py",
)
"""Files of twenty seconds of a core and more; `make test` begins with them, and with those that drive a browser."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files, so that at the end no worker waits for another one's long file."""
    first = {file: place for place, file in enumerate(LONGEST)}

    def order(item: pytest.Item) -> int:
        file = item.nodeid.partition("::")[0]
        return first.get(file, -1 if item.get_closest_marker("browser") else len(first))

    items.sort(key=order)
