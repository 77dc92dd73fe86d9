"""What Gradio carries: the pages for handing in and for maintaining, and the endpoints of its clients."""
