"""How many threads a process computes with. Before numpy is first imported: it decides once.

Our matrices are small and our processes many: threads that wait for each other in a spin cost four times the
work that they share (training a classifier beside four workers on two cores).
"""

import os

__all__ = ["compute_on_one"]

NAMES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def compute_on_one() -> None:
    """One thread of linear algebra, here and in what is started from here, unless the environment says otherwise."""
    for name in NAMES:
        os.environ.setdefault(name, "1")
