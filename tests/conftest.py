"""No test reaches another host, and none reads or fills a cache of the person who runs it."""

import os
import tempfile

os.environ.update(
    {
        "HF_HUB_OFFLINE": "1",
        "HF_EVALUATE_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        "GRADIO_ANALYTICS_ENABLED": "False",
        "HF_HOME": tempfile.mkdtemp(prefix="fairspace-hf-"),
    }
)
