"""Addresses for people who are not signed in yet."""

from __future__ import annotations

from django.urls import path

from tenants.people.joining import join
from tenants.people.passwords import AskedPage, AskPage, SetDonePage, SetPage

urlpatterns = [
    path("join/<str:token>/", join, name="join"),
    path("password/", AskPage.as_view(), name="password_reset"),
    path("password/sent/", AskedPage.as_view(), name="password_reset_done"),
    path("password/<uidb64>/<token>/", SetPage.as_view(), name="password_reset_confirm"),
    path("password/done/", SetDonePage.as_view(), name="password_reset_complete"),
]
