"""Why a file or row could not be brought in: each a fact with a code that staff can filter by."""

from __future__ import annotations

from typing import Final

from knowledge.errors import KnowledgeError

NOT_IMPORTED: Final = "Golden answers and corrections are written by staff, not imported."


class Unreadable(KnowledgeError):
    """This could not be brought in."""

    code = "unreadable"


class FileMissing(Unreadable):
    """There is no such file any more."""

    code = "missing"


class AccessDenied(Unreadable):
    """Its permissions do not let it be read."""

    code = "access_denied"


class NotAFile(Unreadable):
    """It is neither a file nor a folder."""

    code = "not_a_file"


class LinkLeavesTree(Unreadable):
    """It is a link to something outside the folder; such links are not followed."""

    code = "link_leaves_tree"


class TooLarge(Unreadable):
    """It is larger than a file may be."""

    code = "too_large"


class TooManyEntries(Unreadable):
    """The archive holds more entries, or deeper ones, than an archive may."""

    code = "too_many_entries"


class BinaryContent(Unreadable):
    """It is named like text and holds something else."""

    code = "binary_content"


class UnknownEncoding(Unreadable):
    """Its characters are written in no encoding we know."""

    code = "unknown_encoding"


class UnsupportedFormat(Unreadable):
    """No reader knows this kind of file."""

    code = "unsupported_format"


class NoText(Unreadable):
    """It holds no text."""

    code = "no_text"


class Malformed(Unreadable):
    """It is damaged, or not what its name says."""

    code = "malformed"


class TooDeep(Malformed):
    """Its parts are nested deeper than any page needs."""

    code = "too_deep"


class Encrypted(Unreadable):
    """It is protected with a password."""

    code = "encrypted"


class ReaderCrashed(Unreadable):
    """Reading it broke the reader."""

    code = "reader_crashed"


class ReaderTimedOut(Unreadable):
    """Reading it took longer than it may."""

    code = "reader_timed_out"


class ReaderOutOfMemory(Unreadable):
    """Reading it took more memory than it may."""

    code = "reader_out_of_memory"


class RowRefused(Unreadable):
    """The row says something that cannot be kept."""

    code = "row_refused"


class UnknownKeys(RowRefused):
    """The row has keys that no row has."""

    code = "unknown_keys"


class InvalidRow(RowRefused):
    """The line is not a JSON object."""

    code = "invalid_row"


class DuplicateId(RowRefused):
    """Another file or row of this import already has this id."""

    code = "duplicate_id"


class NotStored(RowRefused):
    """The database does not take it as it is."""

    code = "not_stored"


class ImportRefused(KnowledgeError):
    """This import cannot start as asked."""

    code = "import_refused"


class PruneRefused(KnowledgeError):
    """Too much would be deleted at once; say --prune-anyway if that is meant."""

    code = "prune_refused"


class PruneUncertain(KnowledgeError):
    """Some of what should be there could not be read, so nothing was deleted as gone."""

    code = "prune_uncertain"


def _below(parent: type[Unreadable]) -> dict[str, type[Unreadable]]:
    found = {parent.code: parent}
    for child in parent.__subclasses__():
        found |= _below(child)
    return found


_BY_CODE: Final = _below(Unreadable)


def unreadable(code: str, reason: str) -> Unreadable:
    """Return the error that the reading child named."""
    return _BY_CODE.get(code, Unreadable)(reason)
