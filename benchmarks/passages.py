"""How fast documents become passages on one core: listed, read and cut, nothing stored and no vectors.

`python -m benchmarks.passages [--documents N] [--runs N] [--json]`. The documents are the generated corpus.
"""

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

from groundwire.corpus import Chunking, Problem, chunk, list_sources, load_source, read_source

from . import generated_corpus


def one_run(folder: Path) -> dict[str, float]:
    """Seconds of reading and of cutting, and what came of it; RuntimeError if anything was left out."""
    started = time.process_time()
    listing = list_sources([folder])
    loaded = [load_source(file) for file in listing.files]
    sources = [source for source in loaded if not isinstance(source, Problem)]
    readings = [read_source(source) for source in sources]
    read = time.process_time()
    documents = [chunk(found, Chunking()) for reading in readings for found in reading.documents]
    cut = time.process_time()
    if len(documents) != len(loaded):
        raise RuntimeError(f"{len(loaded) - len(documents)} documents were left out")
    passages = sum(len(document.passages) for document in documents)
    return {
        "documents": len(documents),
        "passages": passages,
        "characters": sum(len(document.text) for document in documents),
        "read_s": round(read - started, 3),
        "cut_s": round(cut - read, 3),
        "passages_per_s": round(passages / (cut - started)),
    }


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.passages", description=__doc__)
    parser.add_argument("--documents", type=int, default=generated_corpus.DOCUMENTS)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="the runs as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="passages-") as folder:
        generated_corpus.write(Path(folder), options.documents)
        runs = [one_run(Path(folder)) for _ in range(options.runs)]
    if options.json:
        print(json.dumps(runs))
        return
    for run in runs:
        print(", ".join(f"{name} {value:,}" for name, value in run.items()))
    print(f"median {statistics.median(run['passages_per_s'] for run in runs):,.0f} passages/s")


if __name__ == "__main__":
    main()
