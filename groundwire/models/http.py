"""An endpoint that speaks OpenAI's embeddings API. The one embedder that opens a connection."""

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from contracts import Misconfigured, Permanent, Transient

from .vectors import Vectors, unit

BATCH_TEXTS = 64
BUSY = frozenset({408, 409, 425, 429})


class Http:
    """POSTs `{model, input}` to `url`/embeddings; `key` goes into the Authorization header alone."""

    def __init__(
        self, url: str, model: str, *, key: str | None = None, timeout_s: float = 30.0
    ) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise Misconfigured("the embeddings endpoint must be an http:// or https:// URL")
        self._url = url.rstrip("/") + "/embeddings"
        self._model = model
        self._key = key
        self._timeout_s = timeout_s
        self._dimensions: int | None = None
        self.model_id = f"http:{self._url}:{model}"

    @property
    def dimensions(self) -> int:
        """Asked of the endpoint once, with one text."""
        if self._dimensions is None:
            self._dimensions = int(self._batch(["dimensions"]).shape[1])
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit row for each text, in order. Transient: busy or unreachable; Permanent: refused."""
        parts = [
            self._batch(texts[at : at + BATCH_TEXTS]) for at in range(0, len(texts), BATCH_TEXTS)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimensions), dtype=np.float32)

    def _batch(self, texts: Sequence[str]) -> Vectors:
        reply = self._post({"model": self._model, "input": list(texts)})
        try:
            rows = sorted(reply["data"], key=lambda one: int(one["index"]))
            found = np.array([one["embedding"] for one in rows], dtype=np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise Permanent(f"the reply of {self._url} is not an embeddings reply") from error
        if found.ndim != 2 or len(found) != len(texts) or not np.isfinite(found).all():
            raise Permanent(f"{self._url} sent other than one vector for each text")
        return unit(found)

    def _post(self, body: dict[str, object]) -> Any:
        headers = {"Content-Type": "application/json"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(  # noqa: S310 - the scheme is checked above
            self._url, json.dumps(body).encode(), headers, method="POST"
        )
        try:
            with urllib.request.urlopen(request, timeout=self._timeout_s) as reply:  # noqa: S310
                return json.loads(reply.read())
        except urllib.error.HTTPError as error:
            with error:
                again = error.code in BUSY or error.code >= 500
            kind = Transient if again else Permanent
            raise kind(f"{self._url} answered {error.code} {error.reason}") from error
        except (OSError, http.client.HTTPException) as error:
            raise Transient(f"{self._url} could not be reached: {error}") from error
        except ValueError as error:
            raise Permanent(f"{self._url} did not answer with JSON") from error
