"""Why an item or a folder stays as it is."""

from __future__ import annotations

from knowledge.errors import KnowledgeError


class NotOurs(KnowledgeError):
    """Golden answers change by publishing them and corrections by approving them, not here."""

    code = "changed_by_publishing"


class ItemChanged(KnowledgeError):
    """Somebody changed this item after you saw it; look again before you go on."""

    code = "item_changed"


class ItemDeleted(KnowledgeError):
    """This item is deleted; restore it first."""

    code = "item_deleted"


class RestoreTooLate(KnowledgeError):
    """It was deleted more than thirty days ago and cannot be restored."""

    code = "restore_too_late"


class StaysInSource(KnowledgeError):
    """An item stays in its source: its name is only unique there. Choose a folder of the same source."""

    code = "stays_in_source"


class SourceFilesIt(KnowledgeError):
    """This source is kept fresh and files its items anew at every look; change the folder there."""

    code = "source_files_it"


class FolderGone(KnowledgeError):
    """There is nothing in this folder any more."""

    code = "folder_gone"


class FolderInUse(KnowledgeError):
    """A folder of this name is in use there: it holds items, deleted ones count too, or an agent has it selected."""

    code = "folder_in_use"


class FolderChanged(KnowledgeError):
    """What is in the folder has changed since you looked; look again before you go on."""

    code = "folder_changed"


class NothingChosen(KnowledgeError):
    """Nothing was chosen."""

    code = "nothing_chosen"


class CannotUndo(KnowledgeError):
    """Only what has ended and changed something can be undone, and only once."""

    code = "cannot_undo"
