"""What the browser says; every page takes its sentences from here."""

from __future__ import annotations

from typing import Any, Final

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy

from knowledge.models import BulkAction, BulkJob, Dataset, Item, ItemKind, ParseStatus, ReviewStatus

STATUSES: Final[dict[str, Any]] = {
    ReviewStatus.APPROVED: gettext_lazy("Published"),
    ReviewStatus.PENDING: gettext_lazy("Not published"),
    ReviewStatus.REJECTED: gettext_lazy("Rejected"),
}
DATASETS: Final[dict[str, Any]] = {
    Dataset.DEFAULT: gettext_lazy("Knowledge"),
    Dataset.CORRECTIONS: gettext_lazy("Corrections"),
    Dataset.CONVERSATIONS: gettext_lazy("Conversations"),
}
INDEX: Final[dict[str, Any]] = {
    "failed": gettext_lazy("Failed"),
    "retrying": gettext_lazy("Retrying"),
    "pending": gettext_lazy("Updating"),
    "live": pgettext_lazy("index", "Live"),
}
ACTIONS: Final[dict[str, Any]] = {
    BulkAction.DELETE: gettext_lazy("Delete"),
    BulkAction.RESTORE: gettext_lazy("Restore"),
    BulkAction.PUBLISH: gettext_lazy("Publish"),
    BulkAction.UNPUBLISH: gettext_lazy("Unpublish"),
    BulkAction.MOVE: gettext_lazy("Move"),
    BulkAction.UNDO: gettext_lazy("Undo"),
    BulkAction.REREAD: gettext_lazy("Match by the folder's new name"),
}
VERBS: Final[dict[str, Any]] = {
    "item.add": gettext_lazy("Added"),
    "item.push": gettext_lazy("Added"),
    "item.change": gettext_lazy("Changed"),
    "item.move": gettext_lazy("Moved"),
    "item.withdraw": gettext_lazy("Deleted"),
    "item.restore": gettext_lazy("Restored"),
    "item.review": gettext_lazy("Reviewed"),
    "item.undo": gettext_lazy("Taken back"),
}
REFUSALS: Final[dict[str, Any]] = {
    "changed_by_publishing": gettext_lazy(
        "Golden answers change by publishing them and corrections by approving them, not here."
    ),
    "item_changed": gettext_lazy("Somebody changed it after you saw it."),
    "item_deleted": gettext_lazy("It is deleted; restore it first."),
    "restore_too_late": gettext_lazy("It was deleted more than thirty days ago."),
    "stays_in_source": gettext_lazy(
        "An item stays in its source. Choose a folder of the same source."
    ),
    "source_files_it": gettext_lazy(
        "Its source is kept fresh and files its items anew at every look. Change the folder there."
    ),
    "folder_refused": gettext_lazy("This cannot be the name of a folder."),
    "folder_gone": gettext_lazy("There is nothing in this folder any more."),
    "folder_in_use": gettext_lazy(
        "A folder of this name is in use there: it holds items, deleted ones count too, or an"
        " agent has it selected."
    ),
    "folder_changed": gettext_lazy("What is in the folder has changed since you looked."),
    "nothing_chosen": gettext_lazy("Nothing was chosen."),
    "cannot_undo": gettext_lazy(
        "Only what has ended and changed something can be undone, and only once."
    ),
    "not_stored": gettext_lazy("The database refused it."),
}


def number(count: int) -> str:
    """Return a number with its thousands apart."""
    return str(number_format(count, force_grouping=True))


def items(count: int) -> str:
    """Return how many items there are."""
    return ngettext("{n} item", "{n} items", count).format(n=number(count))


def held(count: int, *, more: bool) -> str:
    """Return what a folder is and holds."""
    if more:
        return _("Folder, more than {n} inside").format(n=number(count))
    return ngettext("Folder, {n} inside", "Folder, {n} inside", count).format(n=number(count))


def found(count: int, most: int) -> str:
    """Return how many match, counted up to a limit."""
    if count > most:
        return _("More than {n} items").format(n=number(most))
    return items(count)


def refusal(error: Any) -> str:
    """Return why something was not done."""
    return str(REFUSALS.get(error.code, error))


def status(item: Item) -> tuple[str, str]:
    """Return the colour and the word for whether an item is served at all."""
    if item.deleted_at is not None:
        return "failed", _("Deleted")
    if item.parse_status not in {ParseStatus.PARSED, ParseStatus.INGESTED}:
        return "failed", _("Its text could not be read")
    if item.dataset == Dataset.CONVERSATIONS:
        return "updating", _("A conversation, never searched by voice")
    if item.kind == ItemKind.GOLDEN:
        is_live = item.published_version is not None
        return ("live", _("Golden answer")) if is_live else ("updating", _("Golden answer, draft"))
    colours = {ReviewStatus.APPROVED: "live", ReviewStatus.REJECTED: "failed"}
    word = str(STATUSES[ReviewStatus(item.review_status)])
    return colours.get(ReviewStatus(item.review_status), "updating"), word


def job(found_job: BulkJob) -> str:
    """Return how a job stands, in one sentence."""
    if found_job.status == BulkJob.Status.RUNNING:
        text = _("{done} of {total} items looked at")
    elif found_job.status == BulkJob.Status.CANCELLED:
        text = _("Cancelled after {done} of {total} items")
    else:
        text = _("Done: {done} of {total} items")
    return text.format(done=number(found_job.handled), total=number(found_job.total))


def counts(found_job: BulkJob) -> str:
    """Return what became of a job's items."""
    told = (
        (found_job.done, _("{n} changed")),
        (found_job.unchanged, _("{n} were so already")),
        (found_job.refused, _("{n} refused")),
    )
    return ", ".join(text.format(n=number(count)) for count, text in told if count)


def title(found_job: BulkJob) -> str:
    """Return the name under which a job is listed."""
    undone = found_job.undoes
    parts = [str(ACTIONS[BulkAction(found_job.action)])]
    if undone is not None:
        parts.append(str(ACTIONS[BulkAction(undone.action)]))
    if found_job.label:
        parts.append(found_job.label)
    told = ": ".join(parts)
    return f"{told} → {found_job.target}" if found_job.target else told


def history(verb: str) -> str:
    """Return what was done to an item, in a word."""
    return str(VERBS.get(verb, verb))
