"""Once the agent has asked the caller something, what depends on the answer has to wait."""

import re

_MARKS = "?؟？﹖︖⁇⁈⁉‽⸮՞፧꘏\u037e"
_ADDRESS = re.compile(r"(://|www\.|[\w-]+\.[a-z]{2,}/)\S*$", re.IGNORECASE)
_INSIDE_ADDRESS = re.compile(r"[\w=&%/#.~+-]")
_LONGEST_TOKEN = 300


class QuestionBoundary:
    """Watches the streamed text of one generation for a question to the caller.

    A question mark inside a web address is none. A mark that ends the text so far counts at
    once: the tool call that follows it must not slip through.
    """

    def __init__(self) -> None:
        self._tail = ""
        self._asked = False

    @property
    def asked(self) -> bool:
        """Whether the text so far has asked a question."""
        return self._asked or (bool(self._tail) and self._ends_with_question())

    def feed(self, text: str) -> bool:
        """Take the next piece of text; says whether a question has been asked by now."""
        for char in text:
            if self._ends_with_question() and not self._goes_on_as_address(char):
                self._asked = True
            self._tail = "" if char.isspace() else (self._tail + char)[-_LONGEST_TOKEN:]
        return self.asked

    def _ends_with_question(self) -> bool:
        return self._tail[-1:] in tuple(_MARKS)

    def _goes_on_as_address(self, char: str) -> bool:
        before = self._tail[:-1]
        return bool(_INSIDE_ADDRESS.match(char)) and bool(_ADDRESS.search(before))
