"""Other languages: never an error, never in scope by accident; English is not taken for one."""

from pathlib import Path

import pytest

from groundwire.wiring.inspection import Inspector
from groundwire.wiring.languages import Foreign

HANDBOOK = Path(__file__).resolve().parents[2] / "examples" / "handbook"
CANCEL = {
    "de": "Wie kann ich mein Abonnement kündigen?",
    "fr": "Comment puis-je annuler mon abonnement ?",
    "es": "¿Cómo puedo cancelar mi suscripción?",
    "it": "Come posso annullare il mio abbonamento?",
    "pt": "Como posso cancelar a minha assinatura?",
    "nl": "Hoe kan ik mijn abonnement opzeggen?",
    "pl": "Jak mogę anulować moją subskrypcję?",
    "sv": "Hur kan jag säga upp min prenumeration?",
    "tr": "Aboneliğimi nasıl iptal edebilirim?",
    "ru": "Как я могу отменить подписку?",
    "el": "Πώς μπορώ να ακυρώσω τη συνδρομή μου;",
    "ar": "كيف يمكنني إلغاء اشتراكي؟",
    "he": "איך אני מבטל את המנוי שלי?",
    "hi": "मैं अपनी सदस्यता कैसे रद्द करूँ?",
    "zh": "我怎么取消订阅？",
    "ja": "サブスクリプションを解約するにはどうすればいいですか？",
    "ko": "구독을 어떻게 취소하나요?",
    "th": "ฉันจะยกเลิกการสมัครสมาชิกได้อย่างไร",
}
ODD = ["", " ", "🙂", "?!", "the of to a", "x" * 8_000, "a " * 4_000, "\x00\x07", "12345"]


@pytest.fixture(scope="module")
def handbook() -> Inspector:
    """A classifier learned from the handbook's examples, without a neural model."""
    return Inspector("fast", HANDBOOK, None)


@pytest.mark.parametrize("text", CANCEL.values(), ids=CANCEL)
async def test_a_question_in_another_language_is_refused_for_it(
    handbook: Inspector, text: str
) -> None:
    """Even about what the documents answer, and with words that English has too."""
    shown = await handbook.test(text)
    assert (shown.outcome, shown.reason) == ("out_of_scope", "language")


@pytest.mark.parametrize(
    "text",
    [
        "How do I cancel my subscription?",
        "refund",
        "refund policy",
        "cancel Abo",
        "Invoice for our Zürich office?",
        "Does SSO work with Okta?",
        "VAT number",
        "HF-123456",
    ],
)
def test_english_is_not_taken_for_another_language(text: str) -> None:
    """Short questions, names and codes among it: who isn't sure doesn't refuse."""
    assert not Foreign(frozenset({"en"}))(text)


@pytest.mark.parametrize("code", ["de", "ru", "ja"])
def test_a_file_names_the_languages_that_it_is_for(code: str) -> None:
    """What it names is not refused, of its own script or of another."""
    assert not Foreign(frozenset({code}))(CANCEL[code])


@pytest.mark.parametrize("text", ODD)
async def test_what_says_nothing_is_out_of_scope_of_learned_intents_too(
    handbook: Inspector, text: str
) -> None:
    """Nothing, an emoji, stop words, 8,000 characters: refused, never an error."""
    assert (await handbook.test(text)).outcome == "out_of_scope"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("I don't want to cancel my subscription", "cancellation"),
        ("Is the annual plan non-refundable?", "refund_policy"),
        ("Can I get a r\u0435fund?", "refund_policy"),
        ("<b>Can I get a refund?</b>", "refund_policy"),
    ],
)
async def test_negation_markup_and_look_alikes_keep_the_label(
    handbook: Inspector, text: str, label: str
) -> None:
    """The topic counts, as a person reads it."""
    assert (await handbook.test(text)).label == label
