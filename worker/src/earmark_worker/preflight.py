"""Asks a server whether this worker may roll out against it."""

from importlib.metadata import version

from earmark_worker.client import VoiceClient
from earmark_worker.errors import ContractMismatch


async def preflight(client: VoiceClient) -> list[str]:
    """What was found, one line each.

    Raises: ContractMismatch, ServerNotReady.
    """
    contract = await client.contract()
    mine = version("earmark-worker")
    if contract.oldest_worker and _parts(mine) < _parts(contract.oldest_worker):
        raise ContractMismatch(
            f"The server accepts workers from {contract.oldest_worker}; this is {mine}."
        )
    await client.ready()
    return [f"contract {contract.version} ({contract.hash})", f"worker {mine} accepted", "ready"]


def _parts(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split(".") if part.isdigit())
