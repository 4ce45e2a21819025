from __future__ import annotations

import json
import random

import pytest
from rest_framework.exceptions import ValidationError

from tenants.strict_json import read_object
from tenants.wire_fields import validated
from voiceapi.errors import VoiceError
from voiceapi.requests import SearchRequest, SessionRequest

BODIES = 100_000
SEED = 20260302
GOOD = json.dumps(
    {
        "organization": "acme", "agent": "front-desk", "limit": 5, "speculative": True,
        "queries": ["كيف أسترجع المبلغ", "how to get a refund"], "pinned": ["a"], "follows": "b",
        "turn_context": {"utterance": "…", "structured_value_digits": 10, "call": {"x": [1]}},
        "call": {"id": "c-1", "country": "AE"}, "contact": {"external_id": "crm-77"},
    }
).encode()  # fmt: skip
PIECES = [
    b"{", b"}", b"[", b"]", b'"', b":", b",", b"null", b"NaN", b"-", b"1e999", b"\\u0000", b"\xff",
    b"\\ud800", b"[" * 50, b'{"a":' * 50, b"9" * 5000, b'"limit": true', b'"\\', b"\xef\xbb\xbf",
]  # fmt: skip


def damaged(chance):
    body = bytearray(GOOD)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(body) + 1)
        body[place : place + chance.randint(0, 12)] = chance.choice(PIECES)
    return bytes(body)


@pytest.mark.slow
def test_a_hundred_thousand_damaged_bodies_are_each_read_or_refused():
    chance = random.Random(SEED)
    read = 0
    for _ in range(BODIES):
        try:
            body = read_object(damaged(chance))
            for shape in (SearchRequest, SessionRequest):
                validated(shape, body)
            read += 1
        except (VoiceError, ValidationError):
            continue
    assert read < BODIES
