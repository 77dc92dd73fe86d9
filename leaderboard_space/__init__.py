"""The Gradio Space: pages and plots over results; no score is computed here."""
