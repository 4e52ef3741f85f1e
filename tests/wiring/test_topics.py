"""What a refusal says can be asked where no intents are configured."""

import json
from pathlib import Path

from agents.pipeline import Pipeline
from contracts import Query
from groundwire.wiring import build_pipeline

FOREIGN = "Who won the chess match?"


def pipeline(folder: Path, **pages: str) -> Pipeline:
    """The pipeline of profile `fast` on these pages."""
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return build_pipeline("fast", folder)


async def refused(asked: Pipeline, *labels: str) -> str:
    """What a foreign question is told."""
    query = Query(text=FOREIGN, session_id="s", labels=labels or ("public",))
    response = (await asked.run(query)).response
    assert response.status == "out_of_scope"
    assert response.channel_json.message in response.display_text
    return response.channel_json.message


async def test_a_refusal_names_the_documents(tmp_path: Path) -> None:
    """Without intents the reader is told what the documents are, by their words alone: no link of theirs is shown."""
    asked = pipeline(
        tmp_path,
        berths="# [Berths](https://harbour.example/berths)\n\nA berth is paid by the month.",
        tides="# Tides\n\nHigh water comes twice a day.",
    )
    assert (await refused(asked)).endswith("I can help with: Berths, Tides.")


async def test_of_many_documents_the_largest_are_named(tmp_path: Path) -> None:
    """A refusal stays short; how many more there are is said."""
    pages = {f"p{at:02}": f"# Page {at}\n\n## One\n\nText." for at in range(10)}
    pages["p09"] += "\n\n## Two\n\nMore.\n\n## Three\n\nAnd more."
    told = await refused(pipeline(tmp_path, **pages))
    assert "Page 9" in told
    assert told.endswith("and 2 more.")


async def test_of_a_single_document_its_headings_are_named(tmp_path: Path) -> None:
    """One title says little."""
    page = (
        "# Harbour\n\n## Berths\n\nPaid monthly.\n\n### Long\n\nText.\n\n## Tides\n\nTwice a day."
    )
    asked = pipeline(tmp_path, harbour=page)
    assert (await refused(asked)).endswith("I can help with: Berths, Tides.")


async def test_documents_that_a_reader_may_not_see_are_not_named(tmp_path: Path) -> None:
    """A title can be a secret: the labels of the query open it, or not."""
    lines = (
        {"passage_id": "a_p0", "text": "The harbour opens at six.", "title": "Harbour"},
        {
            "passage_id": "b_p0",
            "text": "The harbour will be sold.",
            "title": "Sale",
            "labels": ["board"],
        },
    )
    path = tmp_path / "ready.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    asked = build_pipeline("fast", path)
    assert "Sale" not in await refused(asked)
    assert "Sale" in await refused(asked, "board")
