"""The board: a Gradio app over a store of results. No score is computed here, and no request goes to another host."""

import os

# Read by gradio and huggingface_hub when they are imported, so they are set before any module of this package is.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
