"""docker-compose.yml and the Dockerfile, read as data and run as processes: tests have no Docker."""

import json
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts import TOPOLOGY
from groundwire.embedded import TemporaryServer, temporary_server

from .compose import SERVER, Stage, agents, services
from .repository import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
STAGES = [stage.name for stage in TOPOLOGY.stages]
BUILT = [name for name in services() if name != SERVER]


@pytest.fixture(scope="module")
def stage(server: TemporaryServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Every service's process, started in the order of the file: the agents before the documents."""
    server.flush()
    stage = Stage(server.url, tmp_path_factory.mktemp("compose"))
    running = {name: stage.start(name, stage.command(name)) for name in agents()}
    try:
        done = stage.run("ingest", stage.command("ingest"))
        assert done.returncode == 0, done.stderr
        _until_healthy(stage)
        yield stage
    finally:
        started = time.monotonic()
        for process in running.values():
            process.send_signal(signal.SIGTERM)
        codes = {name: process.wait(timeout=30) for name, process in running.items()}
    assert codes == dict.fromkeys(running, 0)
    assert time.monotonic() - started < _seconds(services()["understand"]["stop_grace_period"])


def _until_healthy(stage: Stage, within_s: float = 100.0) -> None:
    deadline = time.monotonic() + within_s
    for name in agents():
        while stage.run(name, stage.health(name)).returncode:
            log = (stage.folder / f"{name}.log").read_text()
            assert time.monotonic() < deadline, f"{name}: {log}"


def _seconds(text: str) -> int:
    assert re.fullmatch(r"\d+s", text), text
    return int(text[:-1])


@pytest.mark.server
def test_the_services_together_answer_a_question(stage: Stage) -> None:
    """With every service's command running, a question asked from a container is answered."""
    question = ["ask", "Can I get a refund on an annual plan?", "--json"]
    asked = stage.run("understand", [stage.command("understand")[0], *question])
    assert asked.returncode == 0, asked.stderr
    answer = json.loads(asked.stdout)
    assert answer["status"] == "approved"
    assert answer["segments"][0]["source"] == "refunds.md"


@pytest.mark.server
def test_a_health_check_tells_a_dead_stage_from_a_live_one(stage: Stage, tmp_path: Path) -> None:
    """An agent's health check passes while a worker of its stage lives, and fails where none does."""
    alive = stage.run("critic", stage.health("critic"))
    assert (alive.returncode, alive.stdout.strip()) == (0, "critic: 1 alive")
    with temporary_server() as empty:
        nobody = Stage(empty.url, tmp_path)
        dead = nobody.run("critic", nobody.health("critic"))
    assert (dead.returncode, dead.stdout.strip()) == (1, "critic: 0 alive")


def test_every_stage_is_a_service_with_its_own_health_check() -> None:
    """One service for each stage of the topology, checked for that very stage."""
    assert agents() == STAGES
    for name in agents():
        service = services()[name]
        assert service["command"] == ["worker", name]
        assert service["healthcheck"]["test"] == ["CMD", "groundwire", "health", name]


@pytest.mark.parametrize("name", services())
def test_no_service_runs_as_root(name: str) -> None:
    """Every container has a user of its own; ours can't gain rights or write to their image."""
    service = services()[name]
    assert not service["user"].startswith("0")
    if name in BUILT:
        assert service["cap_drop"] == ["ALL"]
        assert service["read_only"] is True


@pytest.mark.parametrize("name", [SERVER, *STAGES])
def test_what_runs_for_ever_comes_back(name: str) -> None:
    """Server and agents restart, have a health check and the time to drain; `ingest` runs once."""
    service = services()[name]
    assert service["restart"] == "unless-stopped"
    assert service["healthcheck"]["test"]
    assert _seconds(service["stop_grace_period"]) > 10
    assert services()["ingest"]["restart"] == "no"


def test_agents_wait_for_a_healthy_server() -> None:
    """An agent starts when the server answers and the documents are being read."""
    for name in agents():
        assert services()[name]["depends_on"] == {
            SERVER: {"condition": "service_healthy"},
            "ingest": {"condition": "service_started"},
        }


def test_the_server_keeps_what_it_accepted() -> None:
    """Valkey appends to a named volume, refuses rather than evicts, and listens to this machine only."""
    valkey = services()[SERVER]
    flags = dict(zip(valkey["command"][1::2], valkey["command"][2::2], strict=True))
    assert flags == {
        "--appendonly": "yes",
        "--appendfsync": "everysec",
        "--maxmemory-policy": "noeviction",
    }
    assert valkey["volumes"] == ["valkey:/data"]
    assert all(port.startswith("127.0.0.1:") for port in valkey["ports"])


def test_the_image_is_built_from_what_exists() -> None:
    """Every COPY of the Dockerfile finds its source, and .dockerignore lets it through."""
    let_in = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    sources = [
        word
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
        for word in line.split()[:-1]
    ]
    assert sources
    for source in sources:
        assert (ROOT / source).exists(), source
        assert f"!{source}" in let_in, source


def test_the_image_runs_as_the_user_of_the_compose_file() -> None:
    """The image's last USER is no root, and the one that docker-compose.yml names."""
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE)[-1] == services()["ingest"]["user"]
    assert re.search(r"^HEALTHCHECK ", DOCKERFILE, re.MULTILINE)


def test_one_version_of_uv_makes_checkout_and_image() -> None:
    """Dockerfile and Makefile pin the same uv."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    pinned = re.search(r"^UV_VERSION := (\S+)$", makefile, re.MULTILINE)
    assert pinned
    assert f"uv=={pinned[1]}\n" in DOCKERFILE
