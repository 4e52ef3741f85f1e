"""Work past its deadline that nobody runs: queued, parked, or in this worker's hand and not started."""

import re

from .blob import fetch
from .delivery import Delivery, fields_of
from .hand import Hand
from .log import Log
from .runner import Runner
from .settle import Place
from .settler import Settler
from .watch import handling_of
from .wire import Wire, text

_LOOKED_AT = 50
"""Entries in each place at each look: a bounded step."""
_BEGINNING = "0-0"
_SUBJECT = re.compile(rb'"subject"\s*:\s*"([^"]*)"')


class Overdue:
    """Looks for it in one lane, and ends it without its handler, whether or not a runner is free."""

    def __init__(
        self, place: Place, wire: Wire, *, hand: Hand, runner: Runner, settler: Settler, log: Log
    ) -> None:
        self._place = place
        self._wire = wire
        self._hand = hand
        self._runner = runner
        self._settler = settler
        self._log = log
        self._looked = _BEGINNING

    async def look(self) -> None:
        """One step; the next goes on where it ended."""
        place = self._place
        unstarted = {subject_of(delivery): delivery for delivery in self._hand.inbox}
        on, found, passed = await self._wire.script(
            "overdue",
            [place.stream, place.keys.open, *await self._parked()],
            [
                *(place.stage.name, place.consumer, _LOOKED_AT, int(place.config.lease_s * 1000)),
                *(self._looked, *unstarted),
            ],
        )
        self._looked = text(on)
        deliveries = [unstarted[text(subject)] for subject in passed]
        for delivery in filter(self._hand.withdraw, deliveries):
            await self._end(delivery)
        for entry_id, flat in zip(found[::2], found[1::2], strict=True):
            delivery = Delivery(text(entry_id), fields_of(flat), deliveries=1)
            if self._hand.take(delivery) and self._hand.withdraw(delivery):
                await self._end(delivery)

    async def _parked(self) -> list[str]:
        """The keys of the streams that wait for newer workers of this stage, whether or not there are any."""
        keys, begin = self._place.keys, f"{self._place.stage.consumes}:v"
        names = sorted(map(text, await self._wire.call("SMEMBERS", keys.parked)))
        return [
            key
            for name in names
            if name.startswith(begin)
            for key in (keys.of(name), keys.delayed(name), keys.delayed_body(name))
        ]

    async def _end(self, delivery: Delivery) -> None:
        await fetch(self._wire, self._place.keys, delivery)
        self._settler.put(await self._runner.overdue(delivery))
        self._log("delivery.overdue", **handling_of(delivery, self._place).fields())


def subject_of(delivery: Delivery) -> str:
    """The query of a delivery, without decoding it; empty for a bare entry."""
    if delivery.blob is not None:
        return delivery.subject
    match = _SUBJECT.search(delivery.raw or b"")
    return match[1].decode(errors="replace") if match else ""
