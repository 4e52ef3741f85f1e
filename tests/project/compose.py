"""Runs docker-compose.yml without Docker: each service's command as a process of this machine.

What a container has and a process hasn't is mapped in one place, `Machine.local`: the host `valkey` and each port
become free ports of this machine, the images' programs become ours, and each mount a folder.
"""

import os
import re
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from groundwire.embedded.binary import find_binary

from .repository import BIN, ROOT, environment

COMPOSE = ROOT / "docker-compose.yml"
METRICS = ROOT / "examples" / "deployment" / "compose.metrics.yml"
SERVER = "valkey"
HEALTH_PORT = "9400"
PROGRAMS = {
    "groundwire": str(BIN / "groundwire"),
    "python": sys.executable,
    "valkey-server": str(find_binary()),
}


@cache
def services(path: Path = COMPOSE) -> dict[str, dict[str, Any]]:
    """The services of a file, anchors and merges resolved."""
    loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    found: dict[str, dict[str, Any]] = loaded["services"]
    return found


@cache
def every_service() -> dict[str, dict[str, Any]]:
    """Those of docker-compose.yml and those that measure them."""
    return services() | services(METRICS)


def agents() -> list[str]:
    """The services that run a worker."""
    return [name for name, it in services().items() if it.get("command", [""])[0] == "worker"]


def image_environment() -> dict[str, str]:
    """The variables of ours that the image sets."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    return dict(re.findall(r"\b(GROUNDWIRE_\w+)=(\S+)", text))


def mounts(service: dict[str, Any]) -> dict[str, str]:
    """Mount point in the container → a path of the checkout, or a volume's name and what of it."""
    found = {}
    for volume in service.get("volumes", ()):
        if isinstance(volume, dict):
            found[volume["target"]] = f"{volume['source']}/{volume['volume']['subpath']}"
            continue
        source, mount, *_ = re.sub(r"\$\{\w+:-(.*?)\}", r"\1", volume).split(":")
        found[mount] = source
    return found


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@dataclass(frozen=True)
class Machine:
    """Where the containers' world lies on this machine."""

    folder: Path
    server_port: int = field(default_factory=free_port)
    ports: dict[str, int] = field(default_factory=dict)

    def port(self, name: str) -> int:
        """What a service's port 9400 is here."""
        return self.ports.setdefault(name, free_port())

    def local(self, name: str, text: str) -> str:
        """A word of a service's command or environment, as this machine means it."""
        text = text.replace(f"{SERVER}:6379", f"127.0.0.1:{self.server_port}")
        text = re.sub(rf"\b{HEALTH_PORT}\b", str(self.port(name)), text)
        for mount, source in mounts(every_service()[name]).items():
            if text == mount or text.startswith(f"{mount}/"):
                here = ROOT / source if source.startswith(".") else self.folder / source
                return str(here) + text.removeprefix(mount)
        return text

    def command(self, name: str, *words: str) -> list[str]:
        """What the container runs; with words of one's own, what `docker compose run` would."""
        given = list(words or every_service()[name]["command"])
        if given[0] not in PROGRAMS:
            given.insert(0, "groundwire")  # the image's entry point
        done = [PROGRAMS[given[0]], *(self.local(name, word) for word in given[1:])]
        return [*done, "--port", str(self.server_port)] if name == SERVER else done

    def health(self, name: str) -> list[str]:
        """What its health check runs."""
        kind, program, *words = every_service()[name]["healthcheck"]["test"]
        assert kind == "CMD"
        return [PROGRAMS[program], *(self.local(name, word) for word in words)]

    def environment(self, name: str) -> dict[str, str]:
        """Its environment, with a profile that is quick to start where the file names none."""
        given: dict[str, str | None] = {"GROUNDWIRE_PROFILE": "fast", **image_environment()}
        given |= every_service()[name].get("environment", {})
        kept = {key: value for key, value in given.items() if value is not None}
        return environment(**{key: self.local(name, value) for key, value in kept.items()})

    def start(self, name: str) -> "subprocess.Popen[str]":
        """A process in the service's place, in a folder of its own as the server's `/data` is."""
        home = self.folder / f"home-{name}"
        home.mkdir(parents=True, exist_ok=True)
        log = os.open(self.folder / f"{name}.log", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        try:
            return subprocess.Popen(
                self.command(name),
                cwd=home,
                env=self.environment(name),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                text=True,
            )
        finally:
            os.close(log)

    def run(self, name: str, command: list[str]) -> "subprocess.CompletedProcess[str]":
        """The same for a command that ends."""
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment(name),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
