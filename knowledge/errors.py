"""Errors of knowledge: content, index and retrieval."""

from __future__ import annotations

from tenants.errors import EarmarkError


class KnowledgeError(EarmarkError):
    """Something about the knowledge was refused."""

    code = "knowledge_refused"
