"""Real models behind the interfaces of `builders/engine/tools.py`; `opening.py` opens them by name."""
