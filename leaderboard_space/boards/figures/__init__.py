"""The figures of the boards, drawn with plotly."""
