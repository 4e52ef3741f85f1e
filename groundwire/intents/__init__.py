"""`intents.toml`: what a corpus is asked about, the words that its readers are told, and a classifier learned from it.

A leaf: knows no agent, corpus or embedder; who trains a classifier passes the embedders in.
"""

from .model import FILE_NAME, IntentPart, Intents, Messages, schema
from .reading import beside, load, parse, read_text, text_beside

__all__ = [
    "FILE_NAME",
    "IntentPart",
    "Intents",
    "Messages",
    "beside",
    "load",
    "parse",
    "read_text",
    "schema",
    "text_beside",
]
