"""Texts as messy as they really are, for properties that must hold whatever a document is made of."""

from hypothesis import strategies as st

PIECES = st.sampled_from(
    [
        # Markdown
        "# Head", "## Sub", "### Sub ###", "Title\n===", "Sub\n---", "- item", "* item", "1. one", "  - nested",
        "    indented", "> quote", "> - in a quote", "| a | b |", "|---|---|", "| 1 | 2 |", "```", "~~~py", "---",
        "[ref]: http://example.com", "<div>", "</div>", "<!-- note -->", "!!! note", "::: tip", "-", "#", "\\",
        # prose
        "A sentence. ", "e.g. this one! ", "Choose one of: ", "Dr. Who? ", "[Read it.](a.b?c=d) ", "word", "x" * 50,
        # scripts
        "日本語。", "次の文！", "مرحبا. ", "سؤال؟ ", "שלום. ", "हिन्दी। ",
        "😀", "👩‍👩‍👧 ", "e\u0301. ", "\u1112\u1161\u11ab", "\u202e",
        # blanks and marks
        "\n", "\n\n", " ", "\t", "\r\n", "\r", "\u2028", "\x0b", "\x0c", "\x1c", "\x85", "\u00a0", "\u3000", "\u00ad",
        "\ufeff", "\u200b", "\0",
    ]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(),
    st.lists(PIECES).map("".join),
    st.lists(PIECES).map("\n".join),
    st.lists(st.lists(PIECES, max_size=6).map("".join), max_size=8).map("\n\n".join),
    st.lists(PIECES, min_size=1, max_size=4).map(lambda pieces: "\n\n".join(pieces * 5)),
)
