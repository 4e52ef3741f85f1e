"""A worker's part in one lane: a reader, runners, a settler and a keeper around one hand."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress

from redis import exceptions as errors

from contracts import Query, Unreachable

from .adopter import Adopter
from .backend import Backend
from .beat import Beat
from .blob import fetch
from .clock import ServerClock, time_reply_ms
from .delivery import Delivery
from .gate import Gate
from .groups import ensure_group
from .hand import Hand
from .keeper import Keeper
from .log import Log
from .overdue import Overdue
from .pause import Pause
from .reader import Reader
from .runner import Handler, Runner
from .settle import Place
from .settler import Settler
from .watch import Vitals, Watch, handling_of
from .wire import Arg, Wire

NOBODY = "released"
"""The consumer that given-back work belongs to: it never lives."""


class LaneWorker:
    """Runs one stage in one lane."""

    def __init__(
        self,
        place: Place,
        handler: Handler,
        *,
        backend: Backend,
        beat: Beat,
        gate: Gate,
        failed_message: str | None,
        log: Log,
        jitter: Callable[[], float] = random.random,
        watch: Watch | None = None,
    ) -> None:
        config = place.config
        self._place = place
        self._log = log
        self._clock = ServerClock()
        self._hand = Hand(config)
        self._gate = gate
        lane, limit_s = place.keys.lane, config.reply_timeout_s
        self._wires = [Wire(backend, more + limit_s, lane) for more in (config.block_s, 0.0, 0.0)]
        blocking, settling, keeping = self._wires
        self._wire = keeping
        self.vitals = Vitals(place.stage.name, place.keys.lane, place.stage.consumes, 0.0)
        self._reader = Reader(place, blocking, self._hand, self.vitals, log)
        self._settler = Settler(place, settling, self._hand, self._clock, watch, log)
        self._adopter = Adopter(place, keeping, self._clock, log)
        self._runner = Runner(
            place,
            handler,
            clock=self._clock,
            jitter=jitter,
            failed_message=failed_message,
            deadline_of=self._deadline_of,
            started=None if watch is None else watch.started,
        )
        overdue = Overdue(
            place,
            keeping,
            hand=self._hand,
            runner=self._runner,
            settler=self._settler,
            log=log,
        )
        self._keeper = Keeper(
            place,
            keeping,
            hand=self._hand,
            reader=self._reader,
            beat=beat,
            clock=self._clock,
            overdue=overdue,
            vitals=self.vitals,
            watch=watch,
            log=log,
        )
        self._at_gate: dict[str, Delivery] = {}
        """Taken by a runner, not started: a suspect runs, or waits for the others to finish."""
        self._running = 0
        self._draining = False
        self._drained = asyncio.Event()

    async def prepare(self, stop: asyncio.Event) -> None:
        """Wait for the server or `stop`, create the group, take its time."""
        pause = Pause()
        while not stop.is_set():
            try:
                await ensure_group(self._wire, self._place.stream, self._place.stage.name)
                self._clock.set(time_reply_ms(await self._wire.call("TIME")))
                return
            except (Unreachable, errors.ResponseError) as error:
                self._log("start.waiting", stage=self._place.stage.name, error=str(error)[:200])
                await pause.wait()

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop`, then drain: give back what has not started, finish what runs."""
        concurrency = self._place.config.concurrency
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(self._reader.run())
            running = [group.create_task(self._run_deliveries()) for _ in range(concurrency)]
            lasting = [
                group.create_task(self._settler.run()),
                group.create_task(self._keeper.run()),
                group.create_task(self._keeper.show_life()),
            ]
            await stop.wait()
            self._draining = True
            await self._reader.stop(self._wire)
            await self._drain(reading)
            for task in (reading, *running, *lasting):
                task.cancel()

    async def _drain(self, reading: "asyncio.Task[None]") -> None:
        grace_s = self._place.config.grace_s
        try:
            async with asyncio.timeout(grace_s):
                await reading
                await self._give_back(self._unstarted())
                while self._running:
                    self._drained.clear()
                    await self._drained.wait()
                await self._settler.wait_until_idle()
                await self._give_back(self._unstarted())  # claimed in the last moment
        except TimeoutError:
            self._log("drain.cut", stage=self._place.stage.name, entries=len(self._hand.held))

    def _unstarted(self) -> list[Delivery]:
        """Take back what no runner has started; who waits at the gate finds that it is gone."""
        at_gate = list(self._at_gate.values())
        self._at_gate.clear()
        for delivery in at_gate:
            self._hand.drop(delivery)
        return self._hand.empty_inbox() + at_gate

    async def _give_back(self, deliveries: list[Delivery]) -> None:
        if not deliveries:
            return
        names = [self._place.stage.name, self._place.consumer, NOBODY]
        args: list[Arg] = [*names]
        for delivery in deliveries:
            args += [delivery.id, delivery.deliveries]
        try:
            await self._wire.script("release", [self._place.stream], args)
        except (Unreachable, errors.ResponseError) as error:
            # Our liveness key ends with us: siblings take the work, at the price of one delivery.
            self._log("release.failed", stage=self._place.stage.name, error=str(error)[:200])
            return
        for delivery in deliveries:
            self._log("delivery.released", **handling_of(delivery, self._place).fields())

    async def leave(self) -> None:
        """Leave the group, if nothing is left in hand, and close the connections. After the last beat."""
        place = self._place
        alive = place.keys.alive(place.stage.name, place.consumer)
        try:
            await self._wire.script(
                "leave", [place.stream, alive], [place.stage.name, place.consumer]
            )
        except (Unreachable, errors.ResponseError) as error:
            self._log("leave.failed", stage=place.stage.name, error=str(error)[:200])
        for wire in self._wires:
            await wire.close()

    async def _run_deliveries(self) -> None:
        while True:
            delivery = await self._hand.next()
            if self._draining:
                self._hand.inbox.append(delivery)
                return
            self._at_gate[delivery.id] = delivery
            if delivery.raw is None and not await self._is_message(delivery):
                continue
            if delivery.deliveries > 1:
                await self._run_alone(delivery)
                continue
            await self._gate.enter()
            try:
                await self._start(delivery, self._settle)
            finally:
                self._gate.leave()

    async def _is_message(self, delivery: Delivery) -> bool:
        """Fetch what lies elsewhere; what is no message is settled here. No handler runs, so nobody has to wait."""
        if delivery.blob is not None:
            await fetch(self._wire, self._place.keys, delivery)
        if delivery.raw is None:
            await self._start(delivery, self._settle_bare)
        return delivery.raw is not None

    async def _start(self, delivery: Delivery, run: Callable[[Delivery], Awaitable[None]]) -> None:
        if self._at_gate.pop(delivery.id, None) is None:
            return  # given back meanwhile
        self._running += 1
        try:
            await run(delivery)
        finally:
            self._running -= 1
            if self._draining:
                self._drained.set()

    async def _run_alone(self, delivery: Delivery) -> None:
        """Also of other lanes' deliveries, so no wait for this lane's server may hold the gate for long."""
        pause = Pause()
        while delivery.id in self._at_gate:
            async with self._gate.alone():
                # Whatever is settled by now can't be charged for its crash.
                await self._await_settler()
                is_mine = await self._charge(delivery)
                if is_mine:
                    await self._start(delivery, self._settle)
                    await self._await_settler()
            if is_mine is None:
                await pause.wait()
            elif not is_mine and self._at_gate.pop(delivery.id, None) is not None:
                self._hand.drop(delivery)

    async def _await_settler(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._place.config.reply_timeout_s):
                await self._settler.wait_until_idle()

    async def _charge(self, delivery: Delivery) -> bool | None:
        """Count a claimed delivery as it starts; False if another worker has it by now, None without an answer."""
        place = self._place
        args: list[Arg] = [place.stage.name, place.consumer, delivery.id, delivery.deliveries]
        try:
            return bool(await self._wire.script("charge", [place.stream], args))
        except (Unreachable, errors.ResponseError):
            return None

    async def _settle(self, delivery: Delivery) -> None:
        assert delivery.raw is not None, "what is no message is settled without a handler"
        settlement = await self._runner.run(delivery, delivery.raw)
        self._hand.pace(delivery.handled_s)
        if self._hand.inbox:
            self._settler.put(settlement)
        else:
            await self._settler.settle(settlement)

    async def _settle_bare(self, delivery: Delivery) -> None:
        if delivery.blob is not None:
            self._settler.put(await self._runner.lost(delivery))
            return
        if Query in self._place.stage.accepts:
            fate = await self._adopter.adopt(delivery)
        else:
            fate = self._runner.not_a_message()
        if fate is None:
            self._hand.drop(delivery)
        else:
            self._settler.put(self._runner.bury(delivery, fate, None))

    async def _deadline_of(self, query_id: str) -> int | None:
        pause = Pause()
        while True:
            try:
                score = await self._wire.call("ZSCORE", self._place.keys.open, query_id)
                return None if score is None else int(float(score))
            except (Unreachable, errors.ResponseError):
                await pause.wait()
