"""Durability of an acceptance: what the server confirms to be on disk, or on a replica."""

from redis import exceptions as errors

from contracts import NotDurable, Unreachable

from .wire import Wire

_MARGIN_S = 0.5


async def confirm_stored(wire: Wire, query_id: str, *, replicas: int, timeout_s: float) -> None:
    """Return once this connection's writes are in the append-only file, or on one replica; where a replica may
    take over, on `replicas` of them (0: the file all the same).

    Must follow the write on the same connection. NotDurable says why there is no confirmation; the
    query is accepted all the same, and its submit may be repeated.
    """
    if wire.ran_elsewhere:
        raise NotDurable(
            f"{query_id} is accepted, but its lane is on its way to another node, whose replicas can't be asked yet",
            query_id=query_id,
        )
    timeout_ms = int(max(0.1, timeout_s - _MARGIN_S) * 1000)
    writing = wire.connection_number
    try:
        confirmed = await _confirmed(wire, replicas, timeout_ms)
    except Unreachable as error:
        raise NotDurable(_broke(query_id, str(error)), query_id=query_id) from error
    if wire.connection_number != writing:
        raise NotDurable(_broke(query_id, "it is another one now"), query_id=query_id)
    if not confirmed:
        if wire.is_replicated:
            await wire.look_again()  # perhaps this is a primary that others have left
        raise NotDurable(
            f"{query_id} is accepted, but {_MISSING[wire.is_replicated]}",
            query_id=query_id,
        )


def _broke(query_id: str, why: str) -> str:
    return f"{query_id} is accepted, but the connection broke before that was confirmed: {why}"


_MISSING = {
    False: "neither the disk nor a replica confirmed it: turn on the append-only file "
    "(Redis 7.2, Valkey 7.2 or newer) or add a replica",
    True: "not enough replicas confirmed it: are they running, and in step?",
}


async def _confirmed(wire: Wire, replicas: int, timeout_ms: int) -> bool:
    if wire.is_replicated and replicas:  # a disk that isn't asked any more keeps nothing
        try:
            confirmed: int = await wire.call("WAIT", replicas, timeout_ms)
        except errors.ResponseError:  # a replica itself by now
            return False
        return confirmed >= replicas
    try:
        on_disk, _ = await wire.call("WAITAOF", 1, 0, timeout_ms)
    except errors.ResponseError:  # an older server, or no append-only file
        confirmed = await wire.call("WAIT", 1, timeout_ms)
        return confirmed > 0
    return bool(on_disk)
