"""Workers of agents that do nothing, each a process of its own, with limits as they are given.

`python -m benchmarks.crew URL STAGE LIMITS` is one of them: LIMITS is a bus's configuration as JSON.
"""

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict

from bus import BusConfig
from contracts import TOPOLOGY
from groundwire.loop import run

from .child import die_with_parent
from .ours import serve


@asynccontextmanager
async def crew(
    url: str, config: BusConfig, count: int = 1
) -> AsyncIterator[Mapping[str, Sequence[int]]]:
    """So many processes for each stage, ready: their ids by stage. Killed at the end."""
    started: list[asyncio.subprocess.Process] = []
    of_stage: defaultdict[str, list[int]] = defaultdict(list)
    try:
        for stage in [stage.name for stage in TOPOLOGY.stages for _ in range(count)]:
            told = (url, stage, json.dumps(asdict(config)))
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "benchmarks.crew", *told, stdout=asyncio.subprocess.PIPE
            )
            started.append(process)
            of_stage[stage].append(process.pid)
        for process in started:
            assert process.stdout
            if await process.stdout.readline() != b"ready\n":
                raise SystemExit("a worker of the benchmark ended before it was ready")
        yield of_stage
    finally:
        for process in started:
            if process.returncode is None:
                process.kill()
            await process.wait()


async def _work(url: str, stage: str, config: BusConfig) -> None:
    """Work as one stage for ever; says so on stdout once it reads."""
    await serve(url, stage, lambda: print("ready", flush=True), config=config)


if __name__ == "__main__":
    die_with_parent()
    run(_work(sys.argv[1], sys.argv[2], BusConfig(**json.loads(sys.argv[3]))))
