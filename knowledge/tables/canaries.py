"""The ids of canaries: a range that no random id falls into, known to all who must leave them alone."""

from __future__ import annotations

from typing import Final
from uuid import UUID

# Version 8, "custom": a random id has 4 in that place, a derived one 5, one that begins with its time 7.
FIRST: Final = UUID("ca9aca9a-ca9a-8000-8000-000000000000")
LAST: Final = UUID("ca9aca9a-ca9a-8fff-bfff-ffffffffffff")
