"""Gradio's part: the pages for submitting and maintaining, and the endpoints of its clients."""
