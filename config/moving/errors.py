"""Why an organization could not be moved."""

from __future__ import annotations

from tenants.errors import EarmarkError


class FileRefused(EarmarkError):
    """The file cannot be brought in here."""

    code = "organization_file_refused"


class SlugTaken(EarmarkError):
    """There is an organization of that name already; give another one."""

    code = "organization_slug_taken"
