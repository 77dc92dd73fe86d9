"""The figures of the boards, drawn as SVG."""
