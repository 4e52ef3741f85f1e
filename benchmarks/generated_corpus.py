"""A corpus of any size, made from the handbook: sections in random order with other numbers, always the same by seed.

`python -m benchmarks.generated_corpus FOLDER [--documents 5000] [--sections 20] [--seed 1]`.
"""

import argparse
import random
import re
from collections.abc import Iterator
from pathlib import Path

HANDBOOK = Path(__file__).resolve().parent.parent / "examples" / "handbook"
DOCUMENTS, SECTIONS, SEED = 5_000, 20, 1
FOLDERS = 50

_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_NUMBER = re.compile(r"\b\d{1,4}\b")


def generated(
    documents: int = DOCUMENTS, sections: int = SECTIONS, seed: int = SEED
) -> Iterator[tuple[str, str]]:
    """Names and Markdown of documents of so many sections, each about one passage of the default profile."""
    numbers, found = random.Random(seed), handbook_sections()
    for number in range(documents):
        chosen = [numbers.choice(found) for _ in range(sections)]
        yield _name(number), page(number, chosen, numbers)


def write(
    folder: Path, documents: int = DOCUMENTS, sections: int = SECTIONS, seed: int = SEED
) -> None:
    """The documents as files."""
    for name, text in generated(documents, sections, seed):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def handbook_sections() -> list[str]:
    """Every section of the handbook: a heading of the second level and what stands below."""
    pages = (_FRONT.sub("", path.read_text("utf-8")) for path in sorted(HANDBOOK.glob("*.md")))
    return [f"## {part.strip()}" for page in pages for part in page.split("\n## ")[1:]]


def page(number: int, sections: list[str], numbers: random.Random) -> str:
    """One document: front matter, a title, and the sections with other numbers in their text."""
    front = f"---\ntitle: Page {number}\nupdated: 2026-01-{1 + number % 28:02}\n---\n\n# Page {number}\n"
    changed = (_NUMBER.sub(lambda _: str(numbers.randrange(1, 2_000)), text) for text in sections)
    return "\n".join((front, "\n\n".join(changed), ""))


def _name(number: int) -> str:
    return f"part-{number % FOLDERS:02}/page-{number:05}.md"


def main() -> None:
    """Write a corpus."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.generated_corpus", description=__doc__
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--sections", type=int, default=SECTIONS)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    write(options.folder, options.documents, options.sections, options.seed)
    print(f"{options.documents} documents in {options.folder}")


if __name__ == "__main__":
    main()
