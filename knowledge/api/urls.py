"""The addresses of content, below /api/v1/."""

from __future__ import annotations

from django.urls import path

from knowledge.api import folders, imports, instructions, items, jobs, places, schedules, spaces

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
    path("folders/move", folders.FolderMoveView.as_view()),
    path("folders/lift", folders.FolderLiftView.as_view()),
    path("folders/delete", folders.FolderDeleteView.as_view()),
    path("jobs", jobs.JobsView.as_view()),
    path("jobs/<str:pk>", jobs.JobView.as_view()),
    path("jobs/<str:pk>/items", jobs.JobItemsView.as_view()),
    path("jobs/<str:pk>/cancel", jobs.JobCancelView.as_view()),
    path("jobs/<str:pk>/undo", jobs.JobUndoView.as_view()),
    path("sources", places.SourcesView.as_view()),
    path("sources/<str:pk>", places.SourceView.as_view()),
    path("sources/<str:pk>/schedule", schedules.ScheduleView.as_view()),
    path("sources/<str:pk>/sync", schedules.SyncView.as_view()),
    path("sources/<str:pk>/removals/confirm", schedules.ConfirmView.as_view()),
    path("sources/<str:pk>/removals/refuse", schedules.RefuseView.as_view()),
    path("imports", imports.ImportsView.as_view()),
    path("imports/<str:pk>", imports.ImportView.as_view()),
    path("imports/<str:pk>/pause", imports.ImportPauseView.as_view()),
    path("imports/<str:pk>/resume", imports.ImportResumeView.as_view()),
    path("imports/<str:pk>/cancel", imports.ImportCancelView.as_view()),
    path("imports/<str:pk>/retry", imports.ImportRetryView.as_view()),
    path("embedding-spaces", spaces.SpacesView.as_view()),
    path("directories", places.DirectoriesView.as_view()),
    path("directories/<str:pk>", places.DirectoryView.as_view()),
]
