"""Why an instruction or a directory stays as it is."""

from __future__ import annotations

from knowledge.errors import KnowledgeError


class InstructionGone(KnowledgeError):
    """There is no such instruction."""

    code = "instruction_gone"


class InstructionDeleted(KnowledgeError):
    """This instruction is deleted; restore it first."""

    code = "instruction_deleted"


class InstructionMoved(KnowledgeError):
    """Somebody filed it elsewhere after you looked; look again before you go on."""

    code = "instruction_moved"


class WordingRefused(KnowledgeError):
    """This text cannot be kept; the fields say why."""

    code = "wording_refused"


class WordingChanged(KnowledgeError):
    """Somebody changed this text after you saw it."""

    code = "wording_changed"


class NothingToPublish(KnowledgeError):
    """What is served says this already."""

    code = "nothing_to_publish"


class NoInstructionDraft(KnowledgeError):
    """There is no draft."""

    code = "no_instruction_draft"


class DirectoryAroundDeleted(KnowledgeError):
    """The directory around it is deleted, too; restore that one first."""

    code = "directory_around_deleted"


class DirectoryChanged(KnowledgeError):
    """What is in the directory has changed since you looked; look again before you go on."""

    code = "directory_changed"


class DirectoryNameTaken(KnowledgeError):
    """Another directory there has this name already."""

    code = "directory_name_taken"
