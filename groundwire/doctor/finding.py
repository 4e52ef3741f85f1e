"""What a check says."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """One check: whether it is fine, what was found, and the cure if it is not."""

    check: str
    level: Literal["ok", "warning", "error"]
    what: str
    cure: str = ""
