"""Real models behind the interfaces of `builders/tools.py`; `opening.py` opens them by name."""
