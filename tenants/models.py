"""Organizations, the people and agents in them, and what was done by whom."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from tenants.base import TenantModel
from tenants.isolation import TenantForeignKey


class User(AbstractUser):
    """A person who signs in; what they may do comes from their memberships."""

    has_second_factor = models.BooleanField(default=False, db_default=False, editable=False)
    # Until when the wrong passwords of everybody who tried this name are paid for.
    guesses_until = models.DateTimeField(null=True, blank=True, editable=False)
    # The mailbox that was shown to be this person's; another one in `email` has yet to be.
    proven_email = models.EmailField(blank=True, default="", db_default="", editable=False)

    def get_session_auth_hash(self) -> str:
        """Return what a session has to agree with: one from before a second factor ends with it."""
        return super().get_session_auth_hash() + ("+2" if self.has_second_factor else "")


class Organization(models.Model):
    """A tenant. Its slug is its name on the wire."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=200)
    language = models.CharField(max_length=16, default="en")
    country = models.CharField(max_length=2, blank=True)
    approval_required = models.BooleanField(default=True)
    overdue_answers_lead = models.BooleanField(
        default=True,
        db_default=True,
        help_text="Whether golden answers that nobody verified in time are still served first.",
    )
    retention_days = models.PositiveSmallIntegerField(
        default=30, validators=[MinValueValidator(1), MaxValueValidator(3650)]
    )
    code_patterns = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    features = models.JSONField(default=dict, blank=True)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering: ClassVar = ["slug"]

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    """What a member may do; a member may hold several."""

    VIEWER = "viewer"
    EDITOR = "editor"
    AUTHOR = "author"
    APPROVER = "approver"
    PUBLISHER = "publisher"
    ADMIN = "admin"


class Membership(models.Model):
    """One role of one person in one organization; the source of all authority of people."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE)
    role = models.CharField(max_length=16, choices=Role)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["organization", "user", "role"], name="tenants_membership_once"
            )
        ]

    def __str__(self) -> str:
        told = _("%(user)s is %(role)s in %(organization)s")
        names = {"user": self.user, "organization": self.organization}
        return told % {**names, "role": self.get_role_display()}


class Segment(TenantModel):
    """A named group of contacts that content may be restricted to."""

    slug = models.SlugField()
    name = models.CharField(max_length=200)

    class Meta:
        ordering: ClassVar = ["slug"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "id"], name="tenants_segment_key"),
            models.UniqueConstraint(fields=["organization", "slug"], name="tenants_segment_slug"),
        ]

    def __str__(self) -> str:
        return self.name


class PhoneAgent(TenantModel):
    """A voice agent that answers calls for an organization."""

    slug = models.SlugField()
    name = models.CharField(max_length=200)
    base_instructions = models.TextField(blank=True)
    language = models.CharField(max_length=16, default="en")
    fallback = models.TextField(
        blank=True, help_text="What to say when nothing fits; never an invented fact."
    )
    is_active = models.BooleanField(default=True)

    class Meta:
        ordering: ClassVar = ["slug"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "id"], name="tenants_agent_key"),
            models.UniqueConstraint(fields=["organization", "slug"], name="tenants_agent_slug"),
        ]

    def __str__(self) -> str:
        return self.name


class Contact(TenantModel):
    """A person who may call, as the organization's CRM knows them."""

    external_id = models.CharField(max_length=200)
    name = models.CharField(max_length=200, blank=True)
    country = models.CharField(max_length=2, blank=True)

    class Meta:
        ordering: ClassVar = ["external_id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "id"], name="tenants_contact_key"),
            models.UniqueConstraint(
                fields=["organization", "external_id"], name="tenants_contact_external"
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.external_id


class ContactSegment(TenantModel):
    """A contact's place in a segment."""

    contact = models.ForeignKey(Contact, on_delete=models.CASCADE, related_name="places")
    segment = models.ForeignKey(Segment, on_delete=models.CASCADE, related_name="places")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["organization", "contact", "segment"], name="tenants_place_once"
            ),
            TenantForeignKey(
                column="contact_id",
                to="tenants.Contact",
                on_delete="CASCADE",
                name="tenants_place_contact",
            ),
            TenantForeignKey(
                column="segment_id",
                to="tenants.Segment",
                on_delete="CASCADE",
                name="tenants_place_segment",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.contact} in {self.segment}"


class ServiceKey(models.Model):
    """A credential of a voice runtime; only the hash of its secret is kept."""

    kid = models.CharField(max_length=32, unique=True)
    secret_sha256 = models.BinaryField(max_length=32)
    label = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.label or self.kid


class ServiceKeyBinding(TenantModel):
    """A key's right to speak for an organization; two slots, so that keys rotate."""

    key = models.ForeignKey(ServiceKey, on_delete=models.CASCADE, related_name="bindings")
    slot = models.PositiveSmallIntegerField()
    is_active = models.BooleanField(default=True)

    class Meta:
        verbose_name = "service key"
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(slot__in=[1, 2]), name="tenants_binding_two_slots"
            ),
            models.UniqueConstraint(
                fields=["organization", "slot"],
                condition=models.Q(is_active=True),
                name="tenants_binding_slot_free",
            ),
        ]

    def __str__(self) -> str:
        return _("%(key)s for %(organization)s") % {
            "key": self.key,
            "organization": self.organization,
        }


class ApiToken(TenantModel):
    """A credential of a program that acts for a person; only the hash of its secret is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE)
    label = models.CharField(max_length=200, blank=True)
    kid = models.CharField(max_length=32, unique=True)
    secret_sha256 = models.BinaryField(max_length=32)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-created_at", "id"]

    def __str__(self) -> str:
        return self.label or self.kid


class Invitation(TenantModel):
    """A link that lets its first user into an organization; only the hash of its secret is kept."""

    email = models.EmailField()
    role = models.CharField(max_length=16, choices=Role)
    secret_sha256 = models.BinaryField(max_length=32, unique=True)
    invited_by = models.ForeignKey(
        User, null=True, on_delete=models.PROTECT, related_name="invitations_made"
    )
    sent_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.PROTECT, related_name="invitations_accepted"
    )
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-sent_at", "id"]

    def __str__(self) -> str:
        return f"{self.email} as {self.role}"

    @property
    def is_over(self) -> bool:
        """Whether it was used or taken back."""
        return self.accepted_at is not None or self.revoked_at is not None


class AnsweredRequest(TenantModel):
    """What was answered to a write that carried an idempotency key, kept for a day."""

    user = models.ForeignKey(User, on_delete=models.CASCADE)
    key = models.CharField(max_length=200)
    request_sha256 = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(default=0)
    body = models.TextField(blank=True)
    headers = models.JSONField(default=dict)
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["organization", "user", "key"], name="tenants_answered_once"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["organization", "at"], name="tenants_answered_age")
        ]

    def __str__(self) -> str:
        return self.key


class AuditEntry(TenantModel):
    """What was done, by whom and why; rows are only ever added."""

    at = models.DateTimeField()
    actor = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT)
    actor_label = models.CharField(max_length=200)
    verb = models.CharField(max_length=64)
    subject_type = models.CharField(max_length=64)
    subject_id = models.CharField(max_length=200)
    reason = models.TextField(blank=True)
    before = models.JSONField(default=dict, blank=True)
    after = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering: ClassVar = ["-at", "id"]
        verbose_name_plural = "audit entries"
        indexes: ClassVar = [
            models.Index(fields=["organization", "-at"], name="tenants_audit_recent"),
            models.Index(
                fields=["organization", "subject_type", "subject_id", "-at"],
                name="tenants_audit_subject",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.actor_label} {self.verb} {self.subject_type} {self.subject_id}"
