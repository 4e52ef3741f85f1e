"""docker-compose.yml and the Dockerfile, read as data and run as processes: tests have no Docker."""

import json
import re
import signal
import time
import tomllib
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from contracts import TOPOLOGY
from groundwire.dashboard import panels
from groundwire.settings import Settings

from .compose import (
    HEALTH_PORT,
    METRICS,
    SERVER,
    Machine,
    agents,
    every_service,
    image_environment,
    mounts,
    services,
)
from .queries import asked, exported
from .repository import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
STAGES = [stage.name for stage in TOPOLOGY.stages]
COMMANDS = [name for name, service in services().items() if "profiles" in service]
INTERRUPTED = {"ingest": 0, "status": 130}
"""Exit codes of what ends by Ctrl-C alone."""
LASTING = [SERVER, "ingest", *STAGES]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """Every service's process, started as `docker compose up` does: users, server, documents, agents."""
    machine = Machine(tmp_path_factory.mktemp("compose"))
    done = machine.run("access", machine.command("access"))
    assert done.returncode == 0, done.stderr
    with running(machine, [SERVER]) as server:
        _until(lambda: b"Ready to accept" in (machine.folder / f"{SERVER}.log").read_bytes())
        with running(machine, ["ingest", *agents(), "status"]):
            _until_healthy(machine)
            yield machine
        assert server[SERVER].poll() is None


@contextmanager
def running(machine: Machine, names: list[str]) -> Iterator[dict[str, Any]]:
    """Services that are running, and stopped as `docker compose down` does."""
    processes = {name: machine.start(name) for name in names}
    try:
        yield processes
    finally:
        for name, process in processes.items():
            # A container's first process takes it for Ctrl-C (groundwire/cli/__init__.py).
            process.send_signal(signal.SIGINT if name in INTERRUPTED else signal.SIGTERM)
        started = time.monotonic()
        codes = {name: process.wait(timeout=30) for name, process in processes.items()}
    assert codes == {name: INTERRUPTED.get(name, 0) for name in processes}
    grace_s = [_seconds(every_service()[name].get("stop_grace_period", "10s")) for name in names]
    assert time.monotonic() - started < max(grace_s)


def _until(condition: Any, within_s: float = 100.0) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _until_healthy(machine: Machine) -> None:
    for name in [*agents(), "status"]:
        _until(lambda name=name: machine.run(name, machine.health(name)).returncode == 0)


def _seconds(text: str) -> int:
    assert re.fullmatch(r"\d+s", text), text
    return int(text[:-1])


@pytest.mark.server
def test_the_services_together_answer_a_question(machine: Machine) -> None:
    """With every service's command running, each as its own user, a question asked as `client` is answered."""
    question = ["ask", "Can I get a refund on an annual plan?", "--json"]
    done = machine.run("client", machine.command("client", *question))
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["status"] == "approved"
    assert answer["segments"][0]["source"] == "refunds.md"


@pytest.mark.server
def test_who_is_not_the_operator_may_not_do_what_the_operator_may(machine: Machine) -> None:
    """The passwords are of different users: `verify` is the operator's, not an agent's nor a client's."""
    assert machine.run("operator", machine.command("operator", "verify")).returncode == 0
    for name in ("client", "format"):
        assert machine.run(name, machine.command(name, "verify")).returncode != 0


@pytest.mark.server
def test_a_health_check_tells_a_dead_worker_from_a_live_one(
    machine: Machine, tmp_path: Path
) -> None:
    """An agent's health check passes while its worker is ready, and fails where there is none."""
    assert machine.run("critic", machine.health("critic")).returncode == 0
    nobody = Machine(tmp_path)
    dead = nobody.run("critic", nobody.health("critic"))
    assert (dead.returncode, "refused" in dead.stderr) == (1, True)


@pytest.mark.server
def test_dashboard_and_alerts_ask_for_what_real_processes_export(machine: Machine) -> None:
    """Scraped from each worker and from the whole, as Prometheus does."""
    expressions = [target.expression for panel in panels() for target in panel.targets]
    (group,) = yaml.safe_load((METRICS.parent / "metrics" / "alerts.yml").read_text())["groups"]
    expressions += [rule["expr"] for rule in group["rules"]]
    names = set[str]()
    for name in [*agents(), "status"]:
        with urllib.request.urlopen(f"http://127.0.0.1:{machine.port(name)}/metrics") as page:
            names |= exported(page.read().decode()).keys()
    assert {name for one in expressions for name in asked(one).names} <= {*names, "up"}


def test_every_stage_is_a_service_that_its_own_port_answers_for() -> None:
    """One service for each stage of the topology, asked at the port that the image sets."""
    assert agents() == STAGES
    probe = ["CMD", "python", "-m", "groundwire.probe", f"http://127.0.0.1:{HEALTH_PORT}/readyz"]
    assert image_environment()["GROUNDWIRE_HEALTH_PORT"] == HEALTH_PORT
    assert json.dumps(probe[1:]) in DOCKERFILE
    for name in agents():
        service = services()[name]
        assert service["command"] == ["worker", name]
        assert service["healthcheck"]["test"] == probe


def test_each_process_has_the_password_of_one_user() -> None:
    """A folder of its own in `access`; the server sees hashes, and `default` for its own health check."""
    for name in [*STAGES, *COMMANDS]:
        service = services()[name]
        assert mounts(service)["/access"] == f"access/{name}"
        assert service["environment"]["GROUNDWIRE_REDIS_URL_FILE"] == "/access/redis-url"
        assert "GROUNDWIRE_REDIS_URL" not in service["environment"]
    assert mounts(services()[SERVER])["/access"] == "access/server"
    assert mounts(services()["access"])["/access"] == "access"
    for service in services().values():
        for volume in service.get("volumes", ()):
            if isinstance(volume, dict):
                assert volume["read_only"] is volume["volume"]["nocopy"] is True


@pytest.mark.parametrize("name", every_service())
def test_no_service_has_more_rights_or_more_of_the_machine_than_it_needs(name: str) -> None:
    """No root, no capabilities, nothing written to an image, and a limit for memory, cores and processes."""
    service = every_service()[name]
    assert not service["user"].startswith("0")
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["read_only"] is True
    limits = service["deploy"]["resources"]["limits"]
    assert limits.keys() == {"cpus", "memory", "pids"}
    assert service["logging"]["options"]["max-size"]
    if service["image"] != "groundwire":
        assert re.search(r":v?\d+\.\d+\.\d+$", service["image"]), "no version"


@pytest.mark.parametrize("name", LASTING)
def test_what_runs_for_ever_comes_back(name: str) -> None:
    """Server, documents and agents restart; server and agents have a health check and the time to drain."""
    service = services()[name]
    assert service["restart"] == "unless-stopped"
    if name == "ingest":
        assert service["command"][-1] == "--watch"
        return
    assert service["healthcheck"]["test"]
    grace_s: float = Settings.model_fields["grace_s"].default
    assert _seconds(service["stop_grace_period"]) > grace_s


def test_what_runs_once_is_waited_for() -> None:
    """`docker compose up --wait` fails on whatever ends, unless another service waits for its success."""
    awaited = {
        other
        for service in services().values()
        for other, on in service.get("depends_on", {}).items()
        if on["condition"] == "service_completed_successfully"
    }
    assert {*LASTING, *COMMANDS, *awaited} == services().keys()
    assert services()["access"]["restart"] == "no"


def test_agents_wait_for_a_healthy_server() -> None:
    """An agent starts when the server answers and the documents are being read."""
    for name in agents():
        assert services()[name]["depends_on"] == {
            SERVER: {"condition": "service_healthy"},
            "ingest": {"condition": "service_started"},
        }


def test_the_server_keeps_what_it_accepted() -> None:
    """Valkey appends to a named volume, refuses rather than evicts or be killed, and listens to this machine only."""
    valkey = services()[SERVER]
    flags = dict(zip(valkey["command"][1::2], valkey["command"][2::2], strict=True))
    assert flags == {
        "--aclfile": "/access/users.acl",
        "--appendonly": "yes",
        "--appendfsync": "everysec",
        "--maxmemory": "768mb",
        "--maxmemory-policy": "noeviction",
    }
    assert valkey["deploy"]["resources"]["limits"]["memory"] == "1536M"
    assert mounts(valkey)["/data"] == "valkey"
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
    """The image's last USER is no root, and the one that docker-compose.yml names; its base has a full version."""
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE)[-1] == services()["ingest"]["user"]
    assert re.search(r"^ARG PYTHON=\d+\.\d+\.\d+-slim-\w+$", DOCKERFILE, re.MULTILINE)


def test_signals_reach_the_process_of_the_image() -> None:
    """Entry point, command and health check are in exec form: no shell stands between."""
    forms = re.findall(r"^(?:ENTRYPOINT|CMD|    CMD) (.)", DOCKERFILE, re.MULTILINE)
    assert forms == ["[", "[", "["]


def test_the_image_has_every_extra_that_the_agents_use() -> None:
    """Both layers install the same, from uv.lock as it is, without what only developers need."""
    synced = re.findall(r"uv sync (--frozen --no-dev (?:--extra \w+ )*)", DOCKERFILE)
    assert len(synced) == 2
    assert synced[0] == synced[1]
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    assert set(re.findall(r"--extra (\w+)", synced[0])) == extras.keys()


def test_one_version_of_uv_makes_checkout_and_image() -> None:
    """Dockerfile and Makefile pin the same uv."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    pinned = re.search(r"^UV_VERSION := (\S+)$", makefile, re.MULTILINE)
    assert pinned
    assert f"uv=={pinned[1]}\n" in DOCKERFILE
