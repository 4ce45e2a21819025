"""The addresses of content, below /api/v1/."""

from __future__ import annotations

from django.urls import path

from knowledge.api import instructions, items, places

urlpatterns = [
    path("items", items.ItemsView.as_view()),
    path("items/bulk", items.ItemBulkView.as_view()),
    path("items/<str:pk>", items.ItemView.as_view()),
    path("items/<str:pk>/restore", items.ItemRestoreView.as_view()),
    path("instructions", instructions.InstructionsView.as_view()),
    path("instructions/files", instructions.InstructionFilesView.as_view()),
    path("instructions/bulk", instructions.InstructionBulkView.as_view()),
    path("instructions/<str:pk>", instructions.InstructionView.as_view()),
    path("instructions/<str:pk>/restore", instructions.InstructionRestoreView.as_view()),
    path("sources", places.SourcesView.as_view()),
    path("sources/<str:pk>", places.SourceView.as_view()),
    path("directories", places.DirectoriesView.as_view()),
    path("directories/<str:pk>", places.DirectoryView.as_view()),
]
