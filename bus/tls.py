"""TLS to the server: whom to trust, who we are, and what a handshake that failed means. Knows no URL."""

import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis
import redis.asyncio as aioredis

from contracts import Misconfigured

__all__ = ["Tls", "causes", "connection_classes", "why_tls_failed"]


@dataclass(frozen=True)
class Tls:
    """PEM files: the authority that alone is trusted (None: the system's), our certificate and its key.

    The key may be in the certificate's file. Host names are always checked.
    """

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None

    def context(self) -> ssl.SSLContext:
        """What connections are made with; Misconfigured names the file that can't be used."""
        context = _trusting(self.ca)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if self.cert is not None:
            try:
                # An empty password: an encrypted key is refused, not asked for on a terminal.
                context.load_cert_chain(self.cert, self.key, password="")
            except (OSError, ValueError) as error:
                files = " and ".join(str(file) for file in (self.cert, self.key) if file)
                raise Misconfigured(
                    f"no client certificate with its unencrypted key in {files}: {_reason(error)}"
                ) from error
        return context


def _trusting(ca: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca)
    except (OSError, ValueError) as error:
        raise Misconfigured(f"no certificate of an authority in {ca}: {_reason(error)}") from error


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, ssl.SSLError):
        return (error.reason or "it is not PEM").lower().replace("_", " ")
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


class _Connection(aioredis.SSLConnection):
    """The driver's, with our context instead of one from options in a URL."""

    def __init__(self, *, context: ssl.SSLContext, **options: Any) -> None:
        super().__init__(**options)
        self.ssl_context.context = context

    async def _connect(self) -> None:
        try:
            await super()._connect()  # type: ignore[no-untyped-call]
        except TimeoutError as error:  # a server without TLS waits for the rest of a command
            raise OSError("nothing answers there: is it the port for TLS?") from error

    async def disconnect(self, *_: Any, **named: Any) -> None:
        """End it at once: a goodbye in TLS would outlast the loop."""
        writer = self._writer
        await super().disconnect(**named | {"nowait": True})
        if writer is not None:
            writer.transport.abort()


class _SyncConnection(redis.SSLConnection):
    """The same for a thread."""

    def __init__(self, *, context: ssl.SSLContext, **options: Any) -> None:
        super().__init__(**options)
        self._context = context

    def _wrap_socket_with_ssl(self, sock: Any) -> ssl.SSLSocket:
        return self._context.wrap_socket(sock, server_hostname=self.host)


connection_classes = (_Connection, _SyncConnection)
"""Of the driver's pools: of the asynchronous one, and of a thread's. Both take a `context`."""


def why_tls_failed(error: BaseException) -> str | None:
    """What went wrong with TLS and what to do about it; None where TLS wasn't the trouble."""
    for cause in causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            said = _CERTIFICATE.get(cause.verify_code)
            return said or f"its certificate is refused: {cause.verify_message}"
        if isinstance(cause, ssl.SSLError):
            reason = cause.reason or str(cause)
            known = (said for part, said in _HANDSHAKE.items() if part in reason)
            return next(known, f"TLS failed: {reason.lower().replace('_', ' ')}")
    return None


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error with those behind it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


_UNTRUSTED = (
    "its certificate is signed by none that is trusted here: set GROUNDWIRE_REDIS_TLS_CA to its "
    "authority's certificate"
)
_OTHER_HOST = (
    "its certificate is for another host: use a name that it holds in the URL, or have one issued "
    "for this name"
)
_CERTIFICATE = {  # by OpenSSL's X509_V_ERR_…
    7: _UNTRUSTED,  # another authority of the same name
    9: "its certificate is not valid yet: is the clock of this machine right?",
    10: "its certificate has expired: have it renewed (or is the clock of this machine wrong?)",
    18: _UNTRUSTED,
    19: _UNTRUSTED,
    20: _UNTRUSTED,
    21: _UNTRUSTED,
    62: _OTHER_HOST,
    64: _OTHER_HOST,
}
_NO_TLS = "there is no TLS on that port: is it the plain one (redis://)?"
_HANDSHAKE = {  # by a part of OpenSSL's reason
    "CERTIFICATE_REQUIRED": "it wants a certificate of its clients: set GROUNDWIRE_REDIS_TLS_CERT",
    "ALERT_UNKNOWN_CA": "it doesn't trust the authority of our client certificate",
    "ALERT_CERTIFICATE": "it refuses our client certificate: is it expired, or from elsewhere?",
    "ALERT_BAD_CERTIFICATE": "it refuses our client certificate",
    "WRONG_VERSION_NUMBER": _NO_TLS,
    "RECORD_LAYER_FAILURE": _NO_TLS,
    "UNEXPECTED_EOF": _NO_TLS,
}
