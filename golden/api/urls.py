"""The addresses of answers, below /api/v1/."""

from __future__ import annotations

from django.urls import path

from golden.api import verbs, views

_ONE = "golden-answers/<str:pk>"

urlpatterns = [
    path("golden-answers", views.AnswersView.as_view()),
    path(_ONE, views.AnswerView.as_view()),
    path(f"{_ONE}/draft", views.DraftView.as_view()),
    path(f"{_ONE}/versions", views.VersionsView.as_view()),
    path(f"{_ONE}/sync", views.SyncView.as_view()),
    *(path(f"{_ONE}/{verb.name}", verbs.view_of(verb).as_view()) for verb in verbs.VERBS),
]
