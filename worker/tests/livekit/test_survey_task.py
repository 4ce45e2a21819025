import asyncio

import pytest
from livekit.agents import function_tool

from earmark_worker.livekit import EarmarkAgent, SurveyTask
from earmark_worker.survey import MemoryJournal, SurveyController
from tests.fakes.livekit_fakes import call, text
from tests.livekit.harness import a_line, a_text_line, until
from tests.unit.test_survey import QUESTIONS, OncePerKeySink


class WithSurvey(EarmarkAgent):
    def __init__(self, conversation):
        super().__init__(conversation)
        self.sink = OncePerKeySink()
        self.survey = SurveyController("csat", "s-1", QUESTIONS, MemoryJournal(), self.sink)
        self.results = []

    @function_tool
    async def start_survey(self) -> str:
        """Start the survey."""
        self.results.append(await SurveyTask(self.survey, self.conversation))
        return "The survey is done."


SCRIPTS = ([call("start_survey", "{}")], [text("Goodbye.")])
TAKEN = [(("score", "4"), ("again", "yes"), ("why", "it was fast"))]


async def test_a_survey_in_a_call_asks_in_order_and_is_handed_in_once():
    async with a_line(*SCRIPTS, agent_class=WithSurvey) as line:
        await line.say("goodbye")
        for question, answer in zip(QUESTIONS, ("four", "yes", "it was fast"), strict=True):
            await until(lambda: line.tts.said.endswith(question.text), what=question.text)  # noqa: B023
            await asyncio.sleep(0.1)
            await line.say(answer)
        await until(lambda: "Goodbye." in line.answers, seconds=5, what="the end")
        assert line.agent.results[0].submitted
    assert list(line.agent.sink.taken.values()) == TAKEN
    assert line.agent.sink.calls == 1
    assert len(line.model.asked) == 2
    assert line.backend.requests == []


async def test_every_answer_of_a_survey_stays_in_the_history():
    async with a_text_line(*SCRIPTS, agent_class=WithSurvey) as line:
        await line.session.run(user_input="goodbye")
        task = line.session.current_agent
        for answer in ("four", "perhaps", "yes"):
            await line.session.run(user_input=answer)
        said = [i.text_content for i in task.chat_ctx.items if i.type == "message"]
        assert [s for s in said if s in ("four", "perhaps", "yes")] == ["four", "perhaps", "yes"]
        assert "Sorry. Would you call again?" in said
        await line.session.run(user_input="it was fast")
    assert list(line.agent.sink.taken.values()) == TAKEN


async def test_a_search_is_not_forced_while_a_survey_is_open():
    async with a_text_line(*SCRIPTS, agent_class=WithSurvey) as line:
        await line.session.run(user_input="goodbye")
        assert line.agent.conversation.surveying
        await line.session.run(user_input="I want a refund")
        assert line.backend.requests == []


async def test_a_finished_task_cannot_be_completed_again():
    async with a_text_line(*SCRIPTS, agent_class=WithSurvey) as line:
        await line.session.run(user_input="goodbye")
        task = line.session.current_agent
        for answer in ("four", "yes", "it was fast"):
            await line.session.run(user_input=answer)
        await until(task.done, what="the task")
        with pytest.raises(RuntimeError):
            task.complete(None)
        await until(lambda: not line.agent.conversation.surveying, what="the hand back")
