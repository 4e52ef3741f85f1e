"""How a worker is started: forked from a nursery where a process can be, else as a command of its own."""

from groundwire.nursery import CAN_FORK, Child, Nursery
from groundwire.supervisor import Birth, Start, as_command, worker_command


def starting(nursery: Nursery, stage: str, *options: str) -> Start:
    """How each worker of a stage is started, with these options of the nursery's program."""
    if not CAN_FORK:
        return as_command(worker_command(stage, *options, program=nursery.program))

    async def start(birth: Birth) -> Child:
        arguments = [stage, "--consumer", birth.consumer, *options]
        return await nursery.bear(arguments, birth.log_file)

    return start
