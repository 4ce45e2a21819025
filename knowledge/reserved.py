"""The sources that golden answers and corrections are kept in: golden's verbs alone make and fill them."""

from __future__ import annotations

from typing import Final

from django.db.models import Q

from knowledge.errors import NameReserved
from knowledge.models import Source, SourceKind

GOLDEN: Final = "golden"
CORRECTIONS: Final = "corrections"
RESERVED: Final = frozenset({GOLDEN, CORRECTIONS})
# By its name, too: it may have been made before its name was reserved.
IS_RESERVED: Final = Q(kind=SourceKind.GOLDEN) | Q(slug__in=RESERVED)


def is_reserved(source: Source) -> bool:
    """Whether golden's verbs alone write into a source."""
    return source.kind == SourceKind.GOLDEN or source.slug in RESERVED


def refuse_reserved(slug: str) -> None:
    """Refuse to make a source of such a name.

    Raises: NameReserved
    """
    if slug in RESERVED:
        raise NameReserved
