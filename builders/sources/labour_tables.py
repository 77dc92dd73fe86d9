"""Official labour tables -> shares in percent by IRIS' occupations: what a newer region file of RFS is made of (C.5).

`bls` reads tables 11 and 11b of the U.S. Current Population Survey, `eurostat` the table lfsa_egai2d. Both give the
columns that `fairspace.builders.iris.labour.shares` reads, and `csv_text` writes them. The figures in
`builders/reference/` are the paper's, belong to released standards and stay as they are.
"""

from fairspace.builders.sources.labour_cps import bls
from fairspace.builders.sources.labour_eurostat import eurostat
from fairspace.builders.sources.labour_shares import Shares, csv_text

__all__ = ["Shares", "bls", "csv_text", "eurostat"]
