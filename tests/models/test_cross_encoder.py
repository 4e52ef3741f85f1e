"""A user's cross-encoder: a tiny model that is made here, and the order it gives to passages."""

from pathlib import Path

import pytest

pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, save
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from contracts import Misconfigured, RetrievedContext
from groundwire import profiles
from groundwire.models import Unavailable, choice, open_cross_encoder
from groundwire.wiring import assemble, build_handler
from groundwire.wiring.retrieval import asking

WORDS = {"[PAD]": 0, "[SEP]": 1, "[UNK]": 2, "refund": 3, "gold": 90}


def write_model(folder: Path, outputs: int) -> Path:
    """Sums the ids of the second text's tokens: `gold` outweighs everything. Padding is masked."""
    folder.mkdir(exist_ok=True)
    tokens = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    nodes = [
        helper.make_node("Mul", ["input_ids", "attention_mask"], ["real"]),
        helper.make_node("Mul", ["real", "token_type_ids"], ["second"]),
        helper.make_node("Cast", ["second"], ["floats"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["floats", "axis"], ["sum"], keepdims=1),
        helper.make_node("Neg", ["sum"], ["against"]),
        helper.make_node("Concat", ["against", "sum"], ["both"], axis=1),
    ]
    name = {1: "sum", 2: "both"}[outputs]
    graph = helper.make_graph(
        nodes,
        "sums",
        tokens,
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", outputs])],
        [helper.make_tensor("axis", TensorProto.INT64, [1], [1])],
    )
    opset = [helper.make_opsetid("", 17)]
    save(helper.make_model(graph, opset_imports=opset, ir_version=8), folder / "model.onnx")
    tokenizer = Tokenizer(models.WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A [SEP]", pair="$A [SEP] $B:1", special_tokens=[("[SEP]", 1)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_model(tmp_path / "model", 1)


def test_each_text_has_its_score_at_its_place(model: Path) -> None:
    """Batches are by length; the question's own tokens count nothing in this model."""
    texts = ["refund", "x " * 400, "gold", "refund gold", ""]
    encoder = open_cross_encoder(str(model))
    assert encoder.score("gold gold", texts) == [3.0, 800.0, 90.0, 93.0, 0.0]
    assert encoder.score("gold", []) == []


def test_of_two_outputs_the_second_is_for_the_answer(tmp_path: Path) -> None:
    """The difference of the logits orders as the probability does."""
    encoder = open_cross_encoder(str(write_model(tmp_path / "two", 2) / "model.onnx"))
    assert encoder.score("x", ["gold", "refund"]) == [180.0, 6.0]


def test_a_long_passage_is_cut_before_the_question(model: Path) -> None:
    """512 tokens in all."""
    assert open_cross_encoder(str(model)).score("x", ["gold " * 9_000]) == [90.0 * 510]


async def test_a_profile_orders_by_it(model: Path, tmp_path: Path) -> None:
    """The best by fusion are looked at again; who moved shows from where."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("A refund, a refund, a refund.")
    (docs / "b.md").write_text("A refund in gold.")
    default = profiles.load("default")
    retrieve = {"rerank": f"cross-encoder:{model}", "embedder": "none"}
    profile = default.model_copy(update={"retrieve": default.retrieve.model_copy(update=retrieve)})
    handler = build_handler("retrieve", assemble(profile, docs))
    context = await handler(asking("refund"))
    assert isinstance(context, RetrievedContext)
    found = [(one.doc_id, one.hybrid_rank, one.final_rank) for one in context.passages]
    assert found == [("b.md", 2, 1), ("a.md", 1, 2)]
    assert [one.rerank_score for one in context.passages] == [101.0, 23.0]


def test_what_is_no_model_is_named(tmp_path: Path) -> None:
    """When it is opened, with the file."""
    with pytest.raises(Misconfigured, match=r"model\.onnx"):
        open_cross_encoder(str(tmp_path))
    (tmp_path / "model.onnx").write_bytes(b"no model")
    (tmp_path / "tokenizer.json").write_bytes(
        (write_model(tmp_path / "m", 1) / "tokenizer.json").read_bytes()
    )
    with pytest.raises(Misconfigured, match=r"no ONNX model"):
        open_cross_encoder(str(tmp_path / "model.onnx")).score("x", ["y"])


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the extra that brings them."""
    monkeypatch.setattr(choice, "find_spec", lambda _: None)
    with pytest.raises(Unavailable, match=r"groundwire\[vectors\]"):
        open_cross_encoder("somewhere")
