"""Records the instruction list of an NKI kernel: runs the author's file under stubs of `nki` and `neuronxcc.nki`.

Nothing but the standard library is needed. `python -m neuronscope.nki_recorder FILE.py` prints the list; docs/formats/nki-list.md describes it.
"""

from .run import record
from .trace import Budget

__all__ = ["Budget", "record"]
