"""Why an embedding space is not made, switched to or dropped."""

from __future__ import annotations

from knowledge.errors import KnowledgeError


class SpaceUnknown(KnowledgeError):
    """There is no such embedding space."""

    code = "space_unknown"


class SpaceExists(KnowledgeError):
    """This embedding space exists already."""

    code = "space_exists"


class SecondSpaceExists(KnowledgeError):
    """There is a second embedding space already: drop it first."""

    code = "second_space_exists"


class TooManyDimensions(KnowledgeError):
    """Vectors may have 1,024 dimensions at most: ask the model for fewer."""

    code = "too_many_dimensions"


class SpaceIncomplete(KnowledgeError):
    """The embedding space lacks vectors of some passages: fill it first."""

    code = "space_incomplete"


class SpaceUncalibrated(KnowledgeError):
    """What a good match is has not been measured in this embedding space yet."""

    code = "space_uncalibrated"


class SpaceNotReady(KnowledgeError):
    """This embedding space is not one that can be searched."""

    code = "space_not_ready"


class SpaceInUse(KnowledgeError):
    """The embedding space is searched: switch to another one first."""

    code = "space_in_use"


class SpaceJustLeft(KnowledgeError):
    """Searches may still be under way in this embedding space: try again in a moment."""

    code = "space_just_left"
    retryable = True


class NothingToGoBackTo(KnowledgeError):
    """No embedding space was searched before this one, or it was dropped."""

    code = "nothing_to_go_back_to"
