"""Calls in progress: who speaks for which organization and agent, and until when."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from tenants.base import TenantModel
from tenants.isolation import TenantForeignKey
from tenants.models import Contact, PhoneAgent


class VoiceSession(TenantModel):
    """One call of one agent; it identifies, it never authorises: every search asks live rows."""

    agent = models.ForeignKey(PhoneAgent, on_delete=models.CASCADE)
    contact = models.ForeignKey(Contact, null=True, blank=True, on_delete=models.SET_NULL)
    kid = models.CharField(max_length=32)
    call_id = models.CharField(max_length=200, blank=True)
    channel = models.CharField(max_length=32)
    country = models.CharField(max_length=2, blank=True)
    language = models.CharField(max_length=16, blank=True)
    snapshot = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-created_at", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "id"], name="voiceapi_session_key"),
            TenantForeignKey(
                column="agent_id",
                to="tenants.PhoneAgent",
                on_delete="CASCADE",
                name="voiceapi_session_agent",
            ),
            TenantForeignKey(
                column="contact_id",
                to="tenants.Contact",
                on_delete="SET NULL (contact_id)",
                name="voiceapi_session_contact",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["organization", "-created_at"], name="voiceapi_session_recent"),
            models.Index(fields=["organization", "kid", "call_id"], name="voiceapi_session_call"),
        ]

    def __str__(self) -> str:
        return self.call_id or str(self.id)
