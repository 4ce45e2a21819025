"""A survey inside a call: one open question, answers bound in order, handed in exactly once.

Every step is written to a journal before the next one begins, and the same idempotency key goes
with every try to hand in. So a crash at any point, or an answer that gets lost, leads to one
submission, provided that whoever receives it keeps one per key.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from earmark_worker.errors import SubmissionFailed
from earmark_worker.outcomes import NextAction, ToolOutcome
from earmark_worker.survey_answers import Question, read_answer

_TRIES = 3
_ATTEMPTS = 3


class Stage(StrEnum):
    """How far a survey has come."""

    ASKING = "asking"
    BOUND = "bound"
    SUBMITTING = "submitting"
    SUBMITTED = "submitted"


@dataclass(frozen=True)
class SurveyState:
    """What the journal keeps.

    Shape: `answers` and `bound` hold pairs of question id and stored answer (None: skipped).
    """

    key: str
    stage: Stage = Stage.ASKING
    answers: tuple[tuple[str, str | None], ...] = ()
    bound: tuple[str, str | None] | None = None
    missed: int = 0


class Journal(Protocol):
    """Keeps the state of a survey where a crash cannot reach it."""

    async def load(self) -> SurveyState | None:
        """The state last saved."""
        ...

    async def save(self, state: SurveyState) -> None:
        """Keep a state; once this returns, a new process reads it back."""
        ...


class Sink(Protocol):
    """Takes finished surveys; one per key, however often it is called."""

    async def submit(self, key: str, answers: tuple[tuple[str, str | None], ...]) -> None:
        """Take a survey in. Raises: any error, when it is not certain that it was taken."""
        ...


class MemoryJournal:
    """A journal for a process that may forget surveys when it ends."""

    def __init__(self) -> None:
        self._state: SurveyState | None = None

    async def load(self) -> SurveyState | None:
        """The state last saved."""
        return self._state

    async def save(self, state: SurveyState) -> None:
        """Keep a state in memory."""
        self._state = state


class SurveyController:
    """Owns the open question; nothing else may act while an answer is being bound."""

    def __init__(
        self, name: str, session: str, questions: tuple[Question, ...], journal: Journal, sink: Sink
    ) -> None:
        digest = hashlib.sha256(f"{name}\x1f{session}".encode()).hexdigest()
        self._state = SurveyState(key=digest[:32])
        self._questions = questions
        self._journal = journal
        self._sink = sink
        self._lock = asyncio.Lock()

    @property
    def question(self) -> Question | None:
        """The open question, or None when all are answered."""
        done = {question for question, _ in self._state.answers}
        return next((q for q in self._questions if q.id not in done), None)

    @property
    def submitted(self) -> bool:
        """Whether the survey has been handed in."""
        return self._state.stage is Stage.SUBMITTED

    @property
    def locked(self) -> bool:
        """Whether an answer is bound or being handed in, so that nothing else may run."""
        busy = self._state.stage in (Stage.BOUND, Stage.SUBMITTING)
        return busy or self._lock.locked()

    async def resume(self) -> Question | None:
        """Take up a survey where the journal left it; gives the question to ask next."""
        async with self._lock:
            self._state = await self._journal.load() or self._state
            if self._state.stage is Stage.BOUND:
                await self._commit()
            if self.question is None and not self.submitted:
                await self._hand_in()
        return self.question

    async def answer(self, question: str, said: str) -> ToolOutcome:
        """Bind the caller's words to the open question and go on.

        Shape: `question` is the id the caller was asked; an answer to another one changes
        nothing, so a repeated call is harmless.
        Raises: SubmissionFailed when the last answer is bound but could not be handed in.
        """
        async with self._lock:
            current = self.question
            if current is None or current.id != question:
                return self._outcome("stale")
            stored = read_answer(current, said)
            if stored is None and self._state.missed + 1 < _ATTEMPTS:
                await self._save(missed=self._state.missed + 1)
                return self._again(current)
            await self._save(stage=Stage.BOUND, bound=(current.id, stored))
            await self._commit()
            if self.question is None:
                await self._hand_in()
            return self._outcome("ok" if stored is not None else "skipped")

    @asynccontextmanager
    async def side_tool(self) -> AsyncIterator[bool]:
        """Room for another tool: gives False when an answer is bound, and holds binding off."""
        if self.locked:
            yield False
            return
        async with self._lock:
            yield True

    def refuses(self, tool: str) -> str | None:
        """Why a tool may not run now, or None; the survey's own tool always may."""
        return "answer_bound" if self.locked and tool != "answer_survey" else None

    async def _commit(self) -> None:
        if self._state.bound is None:
            return
        answers = (*self._state.answers, self._state.bound)
        await self._save(stage=Stage.ASKING, answers=answers, bound=None, missed=0)

    async def _hand_in(self) -> None:
        await self._save(stage=Stage.SUBMITTING)
        await self._submit()
        await self._save(stage=Stage.SUBMITTED)

    async def _submit(self) -> None:
        for last in (False,) * (_TRIES - 1) + (True,):
            try:
                return await self._sink.submit(self._state.key, self._state.answers)
            except Exception as error:
                if last:
                    raise SubmissionFailed from error
        return None

    async def _save(self, **changes: object) -> None:
        state = replace(self._state, **changes)  # type: ignore[arg-type]
        await self._journal.save(state)
        self._state = state

    def _outcome(self, status: str) -> ToolOutcome:
        upcoming = self.question
        return ToolOutcome(
            status=status,
            next_action=NextAction.ASK_CALLER if upcoming else NextAction.CONTINUE,
            guidance=f"Ask exactly this: {upcoming.text}"
            if upcoming
            else "The survey is complete.",
            required_input=upcoming.id if upcoming else None,
        )

    def _again(self, question: Question) -> ToolOutcome:
        return ToolOutcome(
            status="not_understood",
            next_action=NextAction.ASK_CALLER,
            guidance=f"Ask again, more simply: {question.text}",
            required_input=question.id,
            attempts_left=_ATTEMPTS - self._state.missed,
        )
