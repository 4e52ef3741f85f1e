"""Ids of passages that stay when the document is edited elsewhere."""

import hashlib
from collections import Counter


class Identities:
    """Names the passages of one document in order: by their headings and words, and which occurrence it is."""

    def __init__(self, doc_id: str) -> None:
        self._doc_id = doc_id
        self._seen: Counter[str] = Counter()

    def next(self, heading_path: tuple[str, ...], text: str) -> str:
        """The id of the next passage: `<doc_id>_<12 hex digits>`, and `-2`, `-3`… for one that came before."""
        named = "\0".join((*heading_path, text)).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(named, digest_size=6).hexdigest()
        self._seen[digest] += 1
        count = self._seen[digest]
        return f"{self._doc_id}_{digest}" + (f"-{count}" if count > 1 else "")
