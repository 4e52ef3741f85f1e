"""Runs docker-compose.yml without Docker: each service's command as a process of this machine.

What a container has and a process hasn't is mapped in one place, `Stage.local`: the host `valkey` becomes
the tests' server, the image's entry point our program, and each mount a folder.
"""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .repository import BIN, ROOT, environment

SERVER = "valkey"
SERVER_URL = "redis://valkey:6379/0"
ENTRYPOINT = str(BIN / "groundwire")


def services() -> dict[str, dict[str, Any]]:
    """The services of docker-compose.yml, anchors and merges resolved."""
    loaded = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    found: dict[str, dict[str, Any]] = loaded["services"]
    return found


def agents() -> list[str]:
    """The services that run a worker."""
    return [name for name, service in services().items() if service["command"][0] == "worker"]


@dataclass(frozen=True)
class Stage:
    """Where the containers' world lies on this machine."""

    server_url: str
    folder: Path

    def local(self, name: str, text: str) -> str:
        """A word of a service's command or environment, as this machine means it."""
        if text == SERVER_URL:
            return self.server_url
        for mount, here in self._mounts(name).items():
            if text == mount or text.startswith(f"{mount}/"):
                return here + text.removeprefix(mount)
        return text

    def _mounts(self, name: str) -> dict[str, str]:
        """Mount point in the container → folder here: a named volume, or a path of the checkout."""
        found = {}
        for volume in services()[name]["volumes"]:
            source, mount, *_ = re.sub(r"\$\{\w+:-(.*?)\}", r"\1", volume).split(":")
            found[mount] = str(ROOT / source if source.startswith(".") else self.folder / source)
        return found

    def command(self, name: str) -> list[str]:
        """What the container runs."""
        return [ENTRYPOINT, *(self.local(name, word) for word in services()[name]["command"])]

    def health(self, name: str) -> list[str]:
        """What its health check runs."""
        kind, program, *words = services()[name]["healthcheck"]["test"]
        assert (kind, program) == ("CMD", "groundwire")
        return [ENTRYPOINT, *words]

    def environment(self, name: str) -> dict[str, str]:
        """Its environment, with a profile that is quick to start where the file names none."""
        given = {"GROUNDWIRE_PROFILE": "fast"} | services()[name]["environment"]
        return environment(**{key: self.local(name, value) for key, value in given.items()})

    def start(self, name: str, command: list[str]) -> "subprocess.Popen[str]":
        """A process in the service's place."""
        log = os.open(self.folder / f"{name}.log", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        try:
            return subprocess.Popen(
                command,
                cwd=self.folder,
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
