"""What all values on the wire have in common."""

from typing import ClassVar

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """An immutable value; an unknown field, NaN or infinity is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    version: ClassVar[int] = 1
    """The version of the message type; a change to a message is a new version, and so is another default."""
    is_written_in_full: ClassVar[bool] = False
    """Whether fields that equal their defaults travel too: what leaves the system says all that it says."""
