"""Why a source could not be looked at."""

from __future__ import annotations

from knowledge.errors import KnowledgeError


class SourceTrouble(KnowledgeError):
    """The source could not be looked at."""

    code = "source_trouble"


class SourceMisconfigured(SourceTrouble):
    """The source does not say where its content is."""

    code = "source_misconfigured"


class AddressRefused(SourceTrouble):
    """The address is not one of the public web; only http and https to public addresses are read."""

    code = "address_refused"


class PageUnavailable(SourceTrouble):
    """The page did not answer as a page does."""

    code = "page_unavailable"


class SourceBusy(SourceTrouble):
    """Somebody looks at this source right now."""

    code = "source_busy"


class NothingToConfirm(SourceTrouble):
    """Nothing waits for confirmation."""

    code = "nothing_to_confirm"
