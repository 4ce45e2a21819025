"""The addresses of scopes, below /api/v1/."""

from __future__ import annotations

from django.urls import path

from scopes.api.views import ScopeRootView, ScopeView

urlpatterns = [
    path("agents/<str:pk>/scope", ScopeView.as_view()),
    path("agents/<str:pk>/scope/<str:root>", ScopeRootView.as_view()),
]
