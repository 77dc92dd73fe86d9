"""How answers to FACT-OR-FAIR are read: groups (objective queries) and options (subjective queries).

Source: FACT-OR-FAIR, sections 3.2 and 3.3. An answer chooses, refuses, names several choices, or is unusable.
"""

from __future__ import annotations

VERSION = "3"
"""Of the readers; part of a result's signature."""
