"""The beat: a thread for each lane that keeps a worker's liveness keys and leases there as long as the process lives.

It also ends the process when the event loop has been stuck past the wedge limit: alive or dead, never a third thing.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence

import redis
from redis import exceptions as errors

from .backend import Backend
from .settle import Place
from .wire import script_sha, script_source

WEDGED_EXIT = 70


class Beat:
    """Beats for one process in one lane: a server that is away holds up no other lane's. Thread-safe: the loop
    only reads `is_proven`.
    """

    def __init__(self, backend: Backend, places: Sequence[Place]) -> None:
        self._places = places
        self._config = places[0].config
        self._backend = backend
        self._lane = places[0].keys.lane
        self._client: redis.Redis | None = None
        self._stopping = threading.Event()
        self._good_since: float | None = None
        self._beaten_at = time.monotonic()
        self._loop_seen = time.monotonic()
        self._leased_at = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="beat", daemon=True)
        self.on_wedged: Callable[[], None] = lambda: os._exit(WEDGED_EXIT)

    def start(self) -> None:
        """Go on beating in the thread; the first beat is the caller's, before the first read."""
        self._thread.start()

    def stop(self) -> None:
        """Stop beating; the liveness key is left to `leave` or to its TTL."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2)
        self._disconnect()

    def loop_is_alive(self) -> None:
        """Called by the event loop, several times a wedge limit."""
        self._loop_seen = time.monotonic()

    @property
    def loop_age_s(self) -> float:
        """Seconds since the loop last showed life."""
        return time.monotonic() - self._loop_seen

    @property
    def is_proven(self) -> bool:
        """Whether all beats of the last TTL were made and succeeded: only then may others be judged by theirs."""
        since, now, ttl_s = self._good_since, time.monotonic(), self._config.alive_ttl_s
        return since is not None and now - since >= ttl_s and now - self._beaten_at < ttl_s

    def beat(self) -> bool:
        """Renew the liveness keys, and the leases when they are due; whether that worked."""
        ttl_ms = int(self._config.alive_ttl_s * 1000)
        started = time.monotonic()
        try:
            client = self._client = self._client or self._connect()
            for place in self._places:
                key = place.keys.alive(place.stage.name, place.consumer)
                if not client.pexpire(key, ttl_ms):
                    client.set(key, os.getpid(), px=ttl_ms)
            if started - self._leased_at >= self._config.lease_s / 4:
                self._renew(client)
                self._leased_at = started
        except (errors.RedisError, OSError) as error:
            # The server is gone, frozen or full: what others' keys say means nothing now. An ASK is not followed:
            # while a lane is on its way between two nodes nobody in it is proven, so nobody is declared dead.
            self._good_since = None
            if not isinstance(error, errors.AskError) or isinstance(error, errors.MovedError):
                self._disconnect()
                self._backend.forget(self._lane)
            return False
        if self._good_since is None or started - self._beaten_at >= self._config.alive_ttl_s:
            self._good_since = (
                started  # frozen meanwhile, and perhaps the others with it: they beat first
            )
        self._beaten_at = started
        return True

    def _connect(self) -> redis.Redis:
        return self._backend.sync_client(self._lane, max(self._config.beat_s, 0.5))

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()
            client.connection_pool.disconnect()  # a pool that was passed in is ours to close

    def _renew(self, client: redis.Redis) -> None:
        for place in self._places:
            arguments = (1, place.stream, place.stage.name, place.consumer)
            try:
                client.evalsha(script_sha("renew"), *arguments)
            except errors.NoScriptError:
                client.eval(script_source("renew"), *arguments)

    def _run(self) -> None:
        while not self._stopping.wait(self._config.beat_s):
            if time.monotonic() - self._loop_seen > self._config.wedge_limit_s:
                self.on_wedged()
                return
            self.beat()
