"""Who is compared, and what has to be installed for it. The settings of each are in its chain, beside their page."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec

from ..child import RESULTS as OWN_RESULTS
from .message import RESULTS

OURS = "ours"
INSTALL = "uv sync --group peers"


@dataclass(frozen=True)
class Side:
    """A chain: the module that has its `serve` and `client`, and what they are called with.

    The module is imported in the processes of this side alone, so that none carries the others' libraries.
    """

    module: str
    packages: tuple[str, ...] = ()
    results: str = RESULTS
    uvloop: bool = False
    settings: Mapping[str, object] = field(default_factory=dict)


_FASTSTREAM = ("faststream", "uvloop")
SIDES: Mapping[str, Side] = {
    OURS: Side("own_chain", results=OWN_RESULTS["ours"], uvloop=True, settings={"side": "ours"}),
    "bare": Side("own_chain", results=OWN_RESULTS["bare"], settings={"side": "bare"}),
    # uvloop: "CLI", Event Loop, https://faststream.ag2.ai/latest/getting-started/cli/
    "faststream": Side("faststream_chain", _FASTSTREAM, uvloop=True),
    "faststream-batch": Side(
        "faststream_chain", _FASTSTREAM, uvloop=True, settings={"batch": True, "max_records": 100}
    ),
    "faststream-batch-1000": Side(
        "faststream_chain", _FASTSTREAM, uvloop=True, settings={"batch": True, "max_records": 1000}
    ),
    # uvloop: "Architecture overview", used where installed,
    # https://taskiq-python.github.io/guide/architecture-overview.html
    "taskiq": Side("taskiq_chain", ("taskiq", "taskiq_redis", "uvloop"), uvloop=True),
    "docket": Side("docket_chain", ("docket",)),
}
PEERS = tuple(name for name in SIDES if name != OURS)


def is_installed(package: str) -> bool:
    """Whether a package can be imported."""
    return find_spec(package) is not None


def missing(names: Iterable[str], has: Callable[[str], bool] = is_installed) -> list[str]:
    """The packages these sides need and that aren't there."""
    wanted = {package for name in names for package in SIDES[name].packages}
    return sorted(package for package in wanted if not has(package))
