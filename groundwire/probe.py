"""`python -m groundwire.probe URL`: a container's health check, a tenth of the cost of a command.

It imports nothing but an HTTP client: it runs every few seconds beside each worker.
"""

import sys
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

__all__ = ["faults_at"]

TIMEOUT_S = 5.0


def faults_at(url: str) -> str | None:
    """Why a worker's `/livez` or `/readyz` says no, or doesn't answer; None if it says yes."""
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "127.0.0.1", parts.port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", parts.path)
        reply = connection.getresponse()
        said = reply.read().decode()
    except (OSError, HTTPException) as error:
        return f"{url}: {error}"
    finally:
        connection.close()
    return None if reply.status == 200 else said.strip()


if __name__ == "__main__":
    sys.exit(faults_at(sys.argv[1]))
