"""A compound question is searched for as a whole and in parts."""

from agents.ranking import Ranking
from agents.retrieve import BEST_OF_PART, Found, FoundPassage, retrieve
from contracts import Intent, RetrievedContext
from groundwire.wiring.retrieval import asking

TEXTS = (
    "A boat costs nine.",
    "A boat may leave.",
    "A boat is wet.",
    "The box was sent back.",
    "Nobody sent it.",
)
QUESTION = "What does a boat cost, and when is the box sent?"


def found(text: str, version: str = "v") -> Found:
    """Passages by how many of the text's words they have."""
    asked = set(text.lower().replace(",", " ").replace("?", " ").split())
    scores = [float(len(asked & set(each.lower().rstrip(".").split()))) for each in TEXTS]

    def passage(position: int) -> FoundPassage:
        said = TEXTS[position]
        return FoundPassage(f"p{position}", f"d{position}", "T", "s", (), said, 0, len(said))

    return Found(version, scores, None, passage)


async def retrieved(
    intent: Intent, *versions: str, k: int = 2, parts: bool = True
) -> RetrievedContext:
    """With a version of the corpus for each search in turn."""
    answers = iter(versions or ("v",) * 9)

    async def search(text: str, labels: tuple[str, ...]) -> Found:
        return found(text, next(answers))

    return await retrieve(intent, search=search, ranking=Ranking(alpha=1.0, k=k, parts=parts))


async def test_what_only_a_part_finds_stands_behind_what_the_whole_finds() -> None:
    """Each part has its own scores, of passages that are all there, once, ranked from 1."""
    context = await retrieved(asking(QUESTION), k=1)
    assert [part.question for part in context.parts] == [
        "What does a boat cost",
        "when is the box sent?",
    ]
    names = [passage.passage_id for passage in context.passages]
    assert len(set(names)) == len(names)
    assert {score.passage_id for part in context.parts for score in part.scores} <= set(names)
    assert [passage.final_rank for passage in context.passages] == list(range(1, len(names) + 1))
    assert {"p0", "p3"} <= set(names)
    assert all(len(part.scores) <= BEST_OF_PART for part in context.parts)


async def test_sub_questions_that_are_understood_are_the_parts() -> None:
    """Grammar is asked only where nobody knows better."""
    intent = asking(QUESTION).model_copy(update={"sub_questions": ("Who sent it?",)})
    assert [part.question for part in (await retrieved(intent)).parts] == ["Who sent it?"]


async def test_a_single_question_and_a_profile_without_parts_search_once() -> None:
    """The course searches once, whatever is asked."""
    for context in (
        await retrieved(asking("Who sent it?"), "v"),
        await retrieved(asking(QUESTION), "v", parts=False),
    ):
        assert context.parts == ()


async def test_an_answer_is_of_one_version_of_the_corpus() -> None:
    """Where a new one came between the searches, the whole question has to do."""
    context = await retrieved(asking(QUESTION), "v", "v", "w")
    assert context.corpus_version == "v"
    assert [part.question for part in context.parts] == ["What does a boat cost"]
