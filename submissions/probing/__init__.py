"""Probes of what a model's representations hold (IRIS, appendices D.3 and E): `fairspace probe`.

`recipe` says which modules of a model are what, `hooks` takes vectors from them while it runs, `extraction` shows it
the `stimuli`, `measuring` turns vectors into values with `metrics/`, `tables` and `page` show them.
"""
