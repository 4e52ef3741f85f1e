"""What all values on the wire have in common."""

from typing import ClassVar

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """An immutable value; an unknown field, NaN or infinity is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    version: ClassVar[int] = 1
    """The version of the message type; a change to a message is a new version."""
