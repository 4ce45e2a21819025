"""How Earmark says no: one root, each error a fact with a code."""

from __future__ import annotations

from typing import Any, ClassVar


class EarmarkError(Exception):
    """Something was refused."""

    code: ClassVar[str] = "refused"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str | None = None, **data: Any) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())
        self.data = data
