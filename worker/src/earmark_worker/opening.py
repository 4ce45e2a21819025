"""Opens a call: one request for the prompt and the tool, then a conversation to hold."""

import os
from dataclasses import dataclass

from pydantic import ValidationError

from earmark_worker.client import VoiceClient
from earmark_worker.conversation import Conversation
from earmark_worker.errors import BootstrapRefused
from earmark_worker.events import Listener
from earmark_worker.sending import Principal
from earmark_worker.settings import Settings
from earmark_worker.wire import Call, Contact, OpenSession


@dataclass(frozen=True)
class CallDetails:
    """What is known when a call comes in.

    Shape: `contact` is the caller's id in the customer's own system; `instructions` are ids of
    dynamic instructions; `additions` are sentences for the prompt.
    """

    call: Call
    contact: str | None = None
    instructions: tuple[str, ...] = ()
    additions: tuple[str, ...] = ()


async def open_conversation(
    details: CallDetails,
    *,
    settings: Settings | None = None,
    listeners: tuple[Listener, ...] = (),
) -> Conversation:
    """A conversation on a fresh session; ending it also closes the connection.

    Raises: ConfigurationMissing, BootstrapRefused, ContractMismatch.
    """
    chosen = settings or Settings.read(os.environ)
    client = VoiceClient(chosen.url, chosen.key)
    try:
        session = await client.open(_request(details, chosen))
    except BaseException:
        await client.close()
        raise
    call = details.call.model_dump(exclude_none=True, exclude={"id"})
    principal = Principal(chosen.organization, chosen.agent, call)
    conversation = Conversation(client, session, principal, listeners=listeners)
    conversation.at_end.append(client.close)
    return conversation


def _request(details: CallDetails, settings: Settings) -> OpenSession:
    """What the server is asked, or the refusal that it would answer."""
    try:
        return OpenSession(
            organization=settings.organization,
            agent=settings.agent,
            call=details.call,
            contact=Contact(external_id=details.contact) if details.contact else None,
            dynamic_instructions=details.instructions,
            additions=details.additions,
        )
    except ValidationError as error:
        named = sorted({str(wrong["loc"][0]) for wrong in error.errors()})
        raise BootstrapRefused(f"Not as the contract says: {', '.join(named)}.") from error
