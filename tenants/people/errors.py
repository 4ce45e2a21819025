"""What is refused about people: links, members and how often somebody may try."""

from __future__ import annotations

from tenants.errors import EarmarkError


class InvitationInvalid(EarmarkError):
    """This link does not work: it was used, taken back or has run out. Ask for a new one."""

    code = "invitation_invalid"


class InvitationOver(EarmarkError):
    """This invitation was used or taken back already."""

    code = "invitation_over"


class PersonNameTaken(EarmarkError):
    """Somebody has this name already; choose another one."""

    code = "person_name_taken"


class TooManyAttempts(EarmarkError):
    """That was tried too often. Wait a few minutes, then try again."""

    code = "too_many_attempts"


class LastAdmin(EarmarkError):
    """An organization keeps at least one administrator: make somebody else one first."""

    code = "last_admin"


class RolesChanged(EarmarkError):
    """These roles were changed after you opened the page. Look at them anew before you change them."""

    code = "roles_changed"


class ConfirmationMissing(EarmarkError):
    """This takes away your own administration: confirm that you want that."""

    code = "confirmation_missing"


class NotAMember(EarmarkError):
    """This person is not in the organization."""

    code = "not_a_member"
