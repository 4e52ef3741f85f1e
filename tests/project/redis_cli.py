"""`redis-cli` for machines that have none: what README.md uses of it, printed as into a pipe.

Knows -s, -u and REDISCLI_AUTH, and the raw output of strings, numbers and lists.
"""

import os
import sys

import redis


def main(arguments: list[str]) -> None:
    """Send one command, print its reply."""
    option, where, *command = arguments
    password = os.environ.get("REDISCLI_AUTH")
    assert option in ("-s", "-u"), option
    if option == "-s":
        client = redis.Redis(unix_socket_path=where, password=password, protocol=2)
    else:
        client = redis.Redis.from_url(where, protocol=2)
    connection = client.connection_pool.get_connection()
    connection.send_command(*command)  # type: ignore[no-untyped-call]
    _show(connection.read_response())


def _show(reply: object) -> None:
    if isinstance(reply, list):
        for item in reply:
            _show(item)
    else:
        sys.stdout.write(f"{reply.decode() if isinstance(reply, bytes) else reply}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
