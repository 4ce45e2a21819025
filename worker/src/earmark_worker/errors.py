"""Errors the worker raises to the program that embeds it, never into the conversation."""


class WorkerError(Exception):
    """The voice worker cannot go on."""

    code = "worker_error"

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or self.__doc__)


class ConfigurationMissing(WorkerError):
    """A setting that the worker needs is missing."""

    code = "configuration_missing"


class BootstrapRefused(WorkerError):
    """The server did not open a session for this call."""

    code = "bootstrap_refused"


class ContractMismatch(WorkerError):
    """The server does not speak the contract version of this worker."""

    code = "contract_mismatch"


class ServerNotReady(WorkerError):
    """The server answered that it is not ready."""

    code = "server_not_ready"


class SubmissionFailed(WorkerError):
    """The survey could not be handed in; it is kept and may be tried again."""

    code = "submission_failed"
