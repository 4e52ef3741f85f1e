"""The table of all faults, by name."""

from collections.abc import Sequence

from contracts import Invalid

from .fault_clients import CLIENTS
from .fault_cluster import CLUSTER
from .fault_handlers import HANDLERS
from .fault_messages import MESSAGES
from .fault_network import NETWORK
from .fault_processes import PROCESSES
from .fault_server import SERVER
from .plan import Fault

FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (*PROCESSES, *HANDLERS, *MESSAGES, *SERVER, *NETWORK, *CLIENTS, *CLUSTER)
}


def faults_named(names: str | None) -> Sequence[Fault]:
    """The faults of a list like `kill,cut`; all for None. Invalid names the unknown one."""
    if names is None:
        return tuple(FAULTS.values())
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in FAULTS:
            raise Invalid(f"no fault {name!r}; there are: {', '.join(FAULTS)}")
    return tuple(FAULTS[name] for name in dict.fromkeys(wanted))
