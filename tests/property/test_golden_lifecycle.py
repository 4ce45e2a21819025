"""Whatever staff do and whatever happens to messages, what is published is what is served and indexed."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from golden import drafting, publishing
from golden.errors import DraftSaysNothingNew, GoldenError
from golden.models import Publication
from knowledge.embedding.spaces import ensure_space, space_key
from knowledge.errors import EmbeddingUnavailable
from knowledge.indexing.converge import Workshop, converge_batch
from knowledge.indexing.reconciling import reconcile
from knowledge.models import Document, IndexState, Item
from knowledge.passages import CHUNKER_VERSION
from knowledge.retrieval.pipeline import retrieve
from knowledge.retrieval.query import understand
from knowledge.retrieval.types import Understood
from tenants.models import AuditEntry
from tests.answers import CONTENT, Staff
from tests.embedders import CountingEmbedder
from tests.world import AT

WORDS = ("alpha", "beta", "gamma")
which, words = st.integers(0, 2), st.sampled_from(WORDS)


def content(word):
    return replace(
        CONTENT, question=f"Where is {word}?", answer=f"The {word} desk.", paraphrases=(), folder=""
    )


class Answer:
    """What must hold of one answer, kept beside it."""

    def __init__(self, pk):
        self.pk = pk
        self.draft = None
        self.live = None
        self.once_live = {}
        self.archived = False
        self.request = None
        self.history = []
        self.acts = 1


class Lifecycle(RuleBasedStateMachine):
    """Two answers may say the same; messages come twice, late, in any order, or never."""

    @initialize(texts=st.tuples(words, words, words), is_under_way=st.booleans())
    def begin(self, texts, is_under_way):
        self.staff = Staff(f"o-{uuid.uuid4().hex[:12]}")
        self.organization_id = self.staff.organization.pk
        self.embedder = CountingEmbedder()
        ensure_space(self.embedder.space, chunker_version=CHUNKER_VERSION)
        self.now = AT
        self.messages = []
        self.answers = []
        for word in texts:
            answer = Answer(self.staff.write(content(word)))
            answer.draft = word
            self.answers.append(answer)
        if is_under_way:
            self.everything_is_live_and_about_to_change(texts)

    def everything_is_live_and_about_to_change(self, texts):
        for n, word in enumerate(texts):
            self.override(n)
            self.edit(n, WORDS[WORDS.index(word) - 1])
            self.request(n)

    def act(self, role, reason="Because."):
        return self.staff.act(role, reason, at=self.now)

    @rule(n=which, word=words)
    def edit(self, n, word):
        answer = self.answers[n]
        if answer.archived:
            return
        self.staff.edit(answer.pk, content(word))
        answer.draft, answer.request = word, None
        answer.acts += 1

    @rule(n=which)
    def discard(self, n):
        answer = self.answers[n]
        if answer.archived or answer.draft is None:
            return
        drafting.discard_draft(self.organization_id, answer.pk, self.act("author"))
        answer.draft = answer.request = None
        answer.acts += 1

    @rule(n=which)
    def request(self, n):
        answer = self.answers[n]
        if answer.archived or answer.draft is None:
            return
        try:
            made = publishing.request_publish(self.organization_id, answer.pk, self.act("author"))
        except DraftSaysNothingNew:
            assert answer.draft == answer.live
            return
        answer.request = made.pk
        answer.acts += 1

    @rule(n=which)
    def approve(self, n):
        answer = self.answers[n]
        if answer.request is not None:
            self.approve_now(answer)

    def approve_now(self, answer):
        publishing.approve(self.organization_id, answer.request, self.act("approver"))
        self.went_live(answer, answer.draft, "golden.approve")
        answer.draft = None

    @rule(n=which)
    def override(self, n):
        answer = self.answers[n]
        if answer.archived or answer.draft in (None, answer.live):
            return
        publishing.override_publish(self.organization_id, answer.pk, self.act("publisher"))
        self.went_live(answer, answer.draft, "golden.override")
        answer.draft = None

    @rule(n=which, choice=st.integers(0, 9))
    def roll_back(self, n, choice):
        answer = self.answers[n]
        live = self.staff.row(answer.pk).published_version_id
        earlier = sorted((v for v in answer.once_live if v != live), key=str)
        if answer.archived or answer.live is None or not earlier:
            return
        version = earlier[choice % len(earlier)]
        publishing.roll_back(self.organization_id, answer.pk, version, self.act("publisher"))
        word = answer.once_live[version]
        self.went_live(answer, word, "golden.roll_back")
        answer.draft = None if answer.draft == word else answer.draft

    @rule(n=which)
    def archive(self, n):
        answer = self.answers[n]
        if answer.archived:
            return
        publishing.archive(self.organization_id, answer.pk, self.act("publisher"))
        answer.archived, answer.live, answer.request = True, None, None
        answer.history.append("golden.archive")
        answer.acts += 1
        self.messages.append(answer)

    @rule(n=which)
    def restore(self, n):
        answer = self.answers[n]
        if not answer.archived:
            return
        publishing.restore(self.organization_id, answer.pk, self.act("publisher"))
        answer.archived = False
        if answer.draft is None and answer.once_live:
            answer.draft = answer.last_live
        answer.acts += 1

    def went_live(self, answer, word, verb):
        answer.live = answer.last_live = word
        answer.once_live[self.staff.row(answer.pk).published_version_id] = word
        answer.request = None
        answer.history.append(verb)
        answer.acts += 1
        self.messages.append(answer)

    @precondition(lambda self: self.messages)
    @rule(place=st.integers(0, 30), again=st.booleans())
    def deliver(self, place, again):
        answer = self.messages[place % len(self.messages)]
        if not again:
            self.messages.remove(answer)
        self.converge(answer)

    @precondition(lambda self: self.messages)
    @rule(place=st.integers(0, 30))
    def lose(self, place):
        self.messages.pop(place % len(self.messages))

    @precondition(lambda self: self.messages)
    @rule(place=st.integers(0, 30))
    def provider_fails(self, place):
        def refuse(_texts):
            raise EmbeddingUnavailable

        self.embedder.before = refuse
        self.converge(self.messages[place % len(self.messages)])
        self.embedder.before = lambda _texts: None

    @precondition(lambda self: self.messages)
    @rule(place=st.integers(0, 30), n=which)
    def somebody_approves_while_it_is_embedded(self, place, n):
        answer, other = self.messages[place % len(self.messages)], self.answers[n]

        def meanwhile(_texts):
            self.embedder.before = lambda _texts: None
            if other.request is not None:
                self.approve_now(other)

        self.embedder.before = meanwhile
        self.converge(answer)
        self.embedder.before = lambda _texts: None

    def converge(self, answer):
        item = self.staff.row(answer.pk).item_id
        if item is not None:
            workshop = Workshop(self.embedder, lambda: self.now, lambda: True)
            outcome = converge_batch(self.organization_id, [("knowledge", item)], workshop)
            self.what_was_written_is_still_wanted(outcome.applied)

    def what_was_written_is_still_wanted(self, applied):
        with self.staff.tenant.context():
            for state in IndexState.objects.filter(asset_id__in=applied):
                assert state.applied_generation == state.desired_generation

    @rule()
    def everything_comes_to_rest(self):
        self.messages = []
        for _ in range(6):
            self.now += timedelta(minutes=15)
            for answer in self.answers:
                self.converge(answer)
        self.index_is_what_is_published()

    def index_is_what_is_published(self):
        with self.staff.tenant.context():
            items = dict(Item.objects.values_list("pk", "external_id"))
            indexed = [items[d.asset_id] for d in Document.objects.all()]
        published = [str(a.pk) for a in self.answers if a.live is not None]
        assert sorted(indexed) == sorted(published)
        space = ensure_space(self.embedder.space, chunker_version=CHUNKER_VERSION)
        assert reconcile(self.organization_id, space=space, at=self.now).total == 0

    @invariant()
    def only_what_is_published_now_is_served(self):
        live = {str(a.pk): f"The {a.live} desk." for a in self.answers if a.live is not None}
        for word in WORDS:
            heard = self.heard(f"where is {word}")
            assert all(live.get(pk) == text for pk, text in heard), (heard, live)
            wanted = f"The {word} desk."
            assert (wanted in live.values()) == (wanted in [text for _, text in heard])

    def heard(self, text):
        queries = understand([text], organization_id=self.organization_id)
        vectors = tuple(self.embedder.embed_queries([q.text for q in queries], deadline_s=1))
        question = Understood(queries, vectors, space_key(self.embedder.space, CHUNKER_VERSION))
        with self.staff.tenant.context():
            found = retrieve(question, self.staff.allowlist(at=self.now), limit=5)
        return [(result.id, result.content) for result in found.results]

    @invariant()
    def nothing_of_the_history_is_missing(self):
        with self.staff.tenant.context():
            for answer in self.answers:
                rows = Publication.objects.filter(golden=answer.pk)
                acts = AuditEntry.objects.filter(subject_id=str(answer.pk))
                assert sorted(rows.values_list("verb", flat=True)) == sorted(answer.history)
                assert acts.count() == answer.acts

    @rule(n=which)
    def what_is_refused_changes_nothing(self, n):
        answer = self.answers[n]
        before = self.staff.row(answer.pk).lock_version
        with pytest.raises(GoldenError):
            publishing.approve(self.organization_id, uuid.uuid4(), self.act("approver"))
        with pytest.raises(GoldenError):
            publishing.archive(self.organization_id, answer.pk, self.act("author"))
        assert self.staff.row(answer.pk).lock_version == before


# With every example of `make test-all` it takes longer than a test usually may.
@pytest.mark.timeout(3_600)
@pytest.mark.django_db
def test_any_order_of_verbs_and_messages_ends_with_the_index_as_it_is_published():
    examples = max(12, settings().max_examples if settings().max_examples >= 300 else 0)
    run_state_machine_as_test(
        Lifecycle, settings=settings(max_examples=examples, stateful_step_count=30)
    )
