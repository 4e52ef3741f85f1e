"""How messages move over Redis Streams. The only package that knows commands and key names."""

from .backend import Backend, UrlBackend
from .client import Bus, connect
from .config import BusConfig
from .dead import DeadLetterEntry, DeadLetterList
from .events import Seen
from .log import Log, no_log
from .origin import Context, Origin, Sending
from .results import Result
from .status import LiveWorkers, StageStatus, SystemStatus
from .survey import UnreachableLane
from .tls import Tls
from .verify import Proof, Verification
from .watch import Became, Handling, Hop, Vitals, Watch
from .worker import Worker

__all__ = [
    "Backend",
    "Became",
    "Bus",
    "BusConfig",
    "Context",
    "DeadLetterEntry",
    "DeadLetterList",
    "Handling",
    "Hop",
    "LiveWorkers",
    "Log",
    "Origin",
    "Proof",
    "Result",
    "Seen",
    "Sending",
    "StageStatus",
    "SystemStatus",
    "Tls",
    "UnreachableLane",
    "UrlBackend",
    "Verification",
    "Vitals",
    "Watch",
    "Worker",
    "connect",
    "no_log",
]
