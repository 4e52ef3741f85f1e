"""From a text to its terms: words lower-cased, accents folded, stemmed; bigrams where words aren't spaced.

No character of a text is syntax. Tokenizer, stemmers and stop words are tantivy's.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

import tantivy

LONGEST_TERM_BYTES = 256

# Han, kana and hangul are written without spaces, or with spaces that don't bound words.
_UNSPACED = re.compile(
    "[\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_MARKS = re.compile("[\u0300-\u036f]+")


@dataclass(frozen=True)
class Analysis:
    """How texts become terms. `stop_words`: None for those of the language, () for none."""

    language: str = "english"
    stop_words: tuple[str, ...] | None = None


class Analyzer:
    """Applies an Analysis; the same to documents and queries, save for what `query_terms` says."""

    def __init__(self, analysis: Analysis) -> None:
        self._chain = _chain(analysis)

    def terms(self, text: str) -> list[str]:
        """The terms by which a document is found, in order, with repetitions."""
        if text.isascii():
            return self._chain.analyze(text)
        return self._mixed(text, (1, 2))

    def query_terms(self, text: str) -> list[str]:
        """The terms that a query looks for: of unspaced scripts bigrams, where there are two characters."""
        if text.isascii():
            return self._chain.analyze(text)
        return self._mixed(text, (2,))

    def _mixed(self, text: str, sizes: tuple[int, ...]) -> list[str]:
        text = _plain(text)
        found: list[str] = []
        end = 0
        for run in _UNSPACED.finditer(text):
            found += self._chain.analyze(text[end : run.start()])
            found += _grams(run[0], sizes)
            end = run.end()
        return found + self._chain.analyze(text[end:])


def _chain(analysis: Analysis) -> tantivy.TextAnalyzer:
    filters = [
        tantivy.Filter.remove_long(LONGEST_TERM_BYTES),
        tantivy.Filter.lowercase(),
        _stop_words(analysis),
        tantivy.Filter.ascii_fold(),
        tantivy.Filter.stemmer(analysis.language),
    ]
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for each in filters:
        builder = builder.filter(each)
    return builder.build()


def _stop_words(analysis: Analysis) -> tantivy.Filter:
    if analysis.stop_words is None:
        return tantivy.Filter.stopword(analysis.language)
    return tantivy.Filter.custom_stopword([word.lower() for word in analysis.stop_words])


def _plain(text: str) -> str:
    """Compatibility forms unified, marks composed; half a surrogate pair, which no UTF-8 has, replaced."""
    valid = text.encode(errors="replace").decode()
    return _MARKS.sub("", unicodedata.normalize("NFKC", valid))


def _grams(run: str, sizes: Iterable[int]) -> list[str]:
    if len(run) == 1:
        return [run]
    return [run[at : at + size] for size in sizes for at in range(len(run) - size + 1)]
