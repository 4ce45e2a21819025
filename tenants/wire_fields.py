"""Fields that take what JSON says: no number for a string, no string for a number, nothing unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import Any, Final
from uuid import UUID

from rest_framework import serializers

UNKNOWN: Final = "Unknown field."


class Text(serializers.CharField):
    """A string, and only a string, kept as it was sent."""

    default_error_messages = {"invalid": "Must be a string."}

    def __init__(self, **kwargs: Any) -> None:
        shortest = None if kwargs.get("allow_blank") else 1
        super().__init__(**{"trim_whitespace": False, "min_length": shortest, **kwargs})

    def to_internal_value(self, data: Any) -> str:
        """Refuse what is not a string."""
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Several(serializers.ListField):
    """A list whose length is looked at before its members are."""

    default_error_messages = {
        "not_a_list": "Must be a list.",
        "max_length": "Must have at most {max_length} members.",
        "min_length": "Must have at least {min_length} members.",
    }

    def to_internal_value(self, data: Any) -> list[Any]:
        """Refuse what is not a list, or one that is too long."""
        if not isinstance(data, list):
            self.fail("not_a_list")
        if self.max_length is not None and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        value: list[Any] = super().to_internal_value(data)
        return value


class Whole(serializers.IntegerField):
    """A whole number written as a number."""

    default_error_messages = {"invalid": "Must be a whole number."}

    def to_internal_value(self, data: Any) -> int:
        """Refuse strings, fractions and truth values; 5.0 is 5, as JSON Schema says."""
        if type(data) is float and data.is_integer():
            data = int(data)
        if type(data) is not int:
            self.fail("invalid")
        return super().to_internal_value(data)


class Id(serializers.UUIDField):
    """An id written as text, and no number that could be read as one."""

    default_error_messages = {"invalid": "Must be a UUID."}

    def to_internal_value(self, data: Any) -> UUID:
        """Refuse what is not a string."""
        if not isinstance(data, str):
            self.fail("invalid")
        value: UUID = super().to_internal_value(data)
        return value


class Instant(serializers.DateTimeField):
    """An instant with its offset, as text."""

    default_error_messages = {
        "zone": "Must say its offset, like 2026-01-31T09:00:00Z.",
        "year": "Must be within the years 1 to 9999 in UTC.",
    }

    def enforce_timezone(self, value: Any) -> Any:
        """Refuse an instant that depends on where it is read, or that no calendar in UTC has."""
        if value.tzinfo is None:
            self.fail("zone")
        try:
            return value.astimezone(UTC)
        except OverflowError:
            self.fail("year")


class Truth(serializers.BooleanField):
    """True or false."""

    default_error_messages = {"invalid": "Must be true or false."}

    def to_internal_value(self, data: Any) -> bool:
        """Refuse everything else that could be read as one."""
        if not isinstance(data, bool):
            self.fail("invalid")
        return data


class StrictSerializer(serializers.Serializer[Any]):
    """An object whose every field is known; an unknown one is refused by name."""

    default_error_messages = {"invalid": "Must be an object."}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Refuse unknown fields together with whatever else is wrong."""
        unknown = {
            name: [UNKNOWN] for name in (data if isinstance(data, Mapping) else ())
            if name not in self.fields
        }  # fmt: skip
        try:
            value: dict[str, Any] = super().to_internal_value(data)
        except serializers.ValidationError as error:
            found = error.detail if isinstance(error.detail, dict) else {}
            raise serializers.ValidationError({**found, **unknown}) from None
        if unknown:
            raise serializers.ValidationError(unknown)
        return value


def flatten(detail: Any, path: str = "") -> dict[str, list[str]]:
    """Return every complaint under the path of its field, `queries.0` or `turn_context.utterance`."""
    return {name: list(messages) for name, messages in _flat(detail, path)}


def _flat(detail: Any, path: str) -> Iterator[tuple[str, list[str]]]:
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            # DRF says under this name what is wrong with the object itself.
            own = name == "non_field_errors"
            yield from _flat(inner, path if own else f"{path}.{name}" if path else str(name))
    elif detail:
        yield path or "body", [str(message) for message in detail]


def validated(shape: type[serializers.Serializer[Any]], body: Any) -> dict[str, Any]:
    """Return the body as the shape says.

    Raises: rest_framework ValidationError
    """
    serializer = shape(data=body)
    serializer.is_valid(raise_exception=True)
    value: dict[str, Any] = serializer.validated_data
    return value
