"""Errors of knowledge: content, index and retrieval."""

from __future__ import annotations

from tenants.errors import EarmarkError


class KnowledgeError(EarmarkError):
    """Something about the knowledge was refused."""

    code = "knowledge_refused"


class EmbeddingFailed(KnowledgeError):
    """The embedder gave no vectors."""

    code = "embedding_failed"

    @property
    def retry_after(self) -> float | None:
        """Seconds the provider asked us to wait, when it said so."""
        seconds = self.data.get("retry_after")
        return None if seconds is None else float(seconds)


class EmbeddingUnavailable(EmbeddingFailed):
    """The embedding provider cannot answer now."""

    code = "embedding_unavailable"
    retryable = True


class EmbeddingTimeout(EmbeddingFailed):
    """The embedding did not arrive in time."""

    code = "embedding_timeout"
    retryable = True


class EmbeddingRejected(EmbeddingFailed):
    """The embedding provider refuses this request, and would again."""

    code = "embedding_rejected"


class UnstorableText(KnowledgeError):
    """The text holds a NUL or half of a surrogate pair."""

    code = "unstorable_text"


class FolderRefused(KnowledgeError):
    """This cannot be the name of a folder."""

    code = "folder_refused"


class NameReserved(KnowledgeError):
    """Golden answers and corrections are kept under this name; choose another name."""

    code = "name_reserved"


class KindKept(KnowledgeError):
    """A golden answer or a correction does not become an ordinary item."""

    code = "kind_kept"


class CursorRefused(KnowledgeError):
    """The place in a list cannot be read from the address."""

    code = "list_cursor_refused"


class CodeShapeRefused(KnowledgeError):
    """A code shape needs a letter and a digit: A stands for a letter, # for a digit."""

    code = "code_shape_refused"


class EmbeddingMisconfigured(KnowledgeError):
    """The settings name no embedder that could work."""

    code = "embedding_misconfigured"
