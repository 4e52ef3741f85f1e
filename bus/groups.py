"""Groups: one a work stream, named like its stage, always created at the beginning."""

from redis import exceptions as errors

from contracts import Misconfigured

from .keys import LANES
from .wire import Wire


async def ensure_group(wire: Wire, stream: str, group: str) -> bool:
    """Create the group at `0` where it is missing; whether it was. A work stream holds only unfinished work."""
    try:
        await wire.call("XGROUP", "CREATE", stream, group, "0", "MKSTREAM")
        return True
    except errors.ResponseError as error:
        if "BUSYGROUP" not in str(error):
            raise
        return False


def is_group_lost(error: Exception) -> bool:
    """Whether the server refused a command, or one in a script, because the group is not there."""
    return "NOGROUP" in str(error)


async def agree_on_lanes(wire: Wire, lanes: int) -> None:
    """Store the number of lanes at first start; refuse to start with another one later."""
    stored = await stored_lanes(wire)
    if stored is None:  # who may only read it (access.py) finds it once a worker has started
        await wire.call("SET", LANES, lanes, "NX")
        stored = await stored_lanes(wire)
    if stored != lanes:
        raise Misconfigured(
            f"this server was started with {stored} lanes, this process is set to {lanes}: "
            f"set GROUNDWIRE_LANES={stored}"
        )


async def stored_lanes(wire: Wire) -> int | None:
    """The number of lanes that the server was started with; None where nothing has been started."""
    stored = await wire.call("GET", LANES)
    return None if stored is None else int(stored)
