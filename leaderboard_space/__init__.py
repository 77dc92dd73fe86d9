"""The public board. It contacts no host but the Hub: for a store on the Hub, and for sign-in."""

import os

# Read by gradio and huggingface_hub when they are imported, so they are set before any module of this package is.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
if not os.environ.get("FAIRSPACE_STORE", "").startswith("hf://"):
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
