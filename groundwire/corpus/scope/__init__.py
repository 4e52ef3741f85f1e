"""What a corpus is about, learned from itself: whether a question is near it. Made at ingestion.

Knows no intents and decides no message's fate; the threshold comes from the corpus's own sentences.
"""

from .files import Calibration
from .model import Nearness, ScopeModel
from .part import NEURAL, SCOPE, ScopePart

__all__ = ["NEURAL", "SCOPE", "Calibration", "Nearness", "ScopeModel", "ScopePart"]
