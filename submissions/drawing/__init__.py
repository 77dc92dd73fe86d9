"""Figures as SVG: drawn without a browser, readable without scripts, with a name and a link at every mark."""
