"""How golden answers say no: each refusal is a fact with its own code."""

from __future__ import annotations

from tenants.errors import EarmarkError


class GoldenError(EarmarkError):
    """Something about a golden answer was refused."""

    code = "golden_refused"


class AnswerNotThere(GoldenError):
    """There is no such answer."""

    code = "answer_not_there"


class RoleMissing(GoldenError):
    """You do not have the role that this needs."""

    code = "role_missing"


class AnswerChangedMeanwhile(GoldenError):
    """Somebody else changed this answer after you looked at it; look again, then decide."""

    code = "answer_changed_meanwhile"


class DraftChangedMeanwhile(GoldenError):
    """Somebody else changed this answer after you opened it; your text is not lost."""

    code = "draft_changed_meanwhile"


class NoDraft(GoldenError):
    """There is no draft."""

    code = "no_draft"


class DraftSaysNothingNew(GoldenError):
    """The draft says what is live already."""

    code = "draft_says_nothing_new"


class NothingPublished(GoldenError):
    """Nothing is live, so nothing can be rolled back."""

    code = "nothing_published"


class VersionNeverPublished(GoldenError):
    """Only a version that was live before can become live again."""

    code = "version_never_published"


class RequestNotOpen(GoldenError):
    """This request is decided already, or what it asked for has changed since."""

    code = "request_not_open"


class ApproverIsRequester(GoldenError):
    """Somebody else than the one who asked has to approve."""

    code = "approver_is_requester"


class ReasonMissing(GoldenError):
    """This needs a reason."""

    code = "reason_missing"


class AnswerArchived(GoldenError):
    """The answer is archived; restore it first."""

    code = "answer_archived"


class AnswerNotArchived(GoldenError):
    """The answer is not archived."""

    code = "answer_not_archived"


class ContentRefused(GoldenError):
    """The content of the answer cannot be kept; the fields say why."""

    code = "content_refused"


class ImportRefused(GoldenError):
    """The file was not imported; the lines say why, and nothing of it was kept."""

    code = "golden_import_refused"
