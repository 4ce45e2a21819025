"""Fields of the voice contract alone: a query, and facts of a call."""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from knowledge.text.normalising import normalise
from tenants.wire_fields import Text

LONGEST_QUERY: Final = 500
# Before normalisation, which may shorten a text but is never asked to read a book.
_RAW_FACTOR: Final = 4


@extend_schema_field(
    {
        "type": "string",
        "minLength": 1,
        "maxLength": LONGEST_QUERY,
        "description": "Counted after normalisation (NFKC, one space between words).",
    }
)
class QueryText(Text):
    """One query, bounded after normalisation, which is what will be searched."""

    default_error_messages = {
        "blank": "Nothing is left of it after normalisation.",
        "max_length": "Must have at most {max_length} characters after normalisation.",
    }

    def to_internal_value(self, data: Any) -> str:
        """Refuse what is empty or too long once it is normalised."""
        text = super().to_internal_value(data)
        bounded = len(text) <= LONGEST_QUERY * _RAW_FACTOR
        length = len(normalise(text)) if bounded else len(text)
        if length > LONGEST_QUERY:
            self.fail("max_length", max_length=LONGEST_QUERY)
        if not length:
            self.fail("blank")
        return text


class CallFacts(serializers.Serializer[Any]):
    """What the telephone system knows of a call: keys we do not know are dropped, not refused."""

    default_error_messages = {"invalid": "Must be an object."}
