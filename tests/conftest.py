"""No test reaches another host, and none reads or fills a cache of the person who runs it."""

import os
import tempfile

pytest_plugins = ["tests.cpu_seconds", "tests.only"]

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
