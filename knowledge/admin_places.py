"""Where content is filed and whom it is for: sources, instruction directories and segments in the admin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from knowledge.editor.errors import DirectoryNameTaken
from knowledge.errors import FolderRefused, NameReserved
from knowledge.folders import segments
from knowledge.indexing.filing import (
    DirectoryGone,
    DirectoryRefused,
    file_directory,
    refuse_too_deep,
)
from knowledge.models import Instruction, InstructionDirectory, Item, Source, SourceKind
from knowledge.reserved import refuse_reserved
from tenants.admin_authority import at_of
from tenants.admin_base import TenantAdmin
from tenants.admin_forms import TenantForm
from tenants.locking import lock_organization
from tenants.models import PhoneAgent, Role, Segment

NAMED: Final = 5


def restricted_by(column: str, target: Segment | PhoneAgent) -> list[str]:
    """Return sentences that name what a segment or an agent restricts; empty when nothing.

    Cost: two statements for each kind of content.
    """
    kinds = (
        (Item, _("It restricts items: %s.")),
        (Instruction, _("It restricts instructions: %s.")),
    )
    told = []
    for model, sentence in kinds if column == "segments" else kinds[:1]:
        rows: QuerySet[Any] = model._default_manager.filter(
            organization_id=target.organization_id, **{f"{column}__contains": [target.pk]}
        )
        titles = list(rows.values_list("title", flat=True)[: NAMED + 1])
        if titles:
            named = ", ".join(titles[:NAMED])
            more = len(titles) > NAMED
            told.append(str(sentence) % (gettext("%s and others") % named if more else named))
    return told


@admin.register(Segment)
class SegmentAdmin(TenantAdmin):
    """Groups of contacts; one that restricts something stays."""

    list_display = ("name", "slug")
    search_fields = ("name", "slug")
    ordering = ("slug", "id")
    fields: ClassVar[Any] = ("organization", "slug", "name")

    def refusals(self, obj: Segment) -> Sequence[str]:
        """Return what it restricts: without it, that would be open or lost."""
        return restricted_by("segments", obj)


class SourceForm(TenantForm):
    """A source has a name that is not kept for golden answers and corrections."""

    def clean_slug(self) -> str:
        """Return the slug of a new source."""
        slug: str = self.cleaned_data["slug"]
        try:
            refuse_reserved(slug)
        except NameReserved as refusal:
            raise forms.ValidationError(gettext(str(refusal))) from None
        return slug


@admin.register(Source)
class SourceAdmin(TenantAdmin):
    """Containers of items; the slug is the first name of every folder key and stays."""

    form = SourceForm
    add_role = Role.EDITOR
    change_role = Role.EDITOR
    delete_role = None
    list_display = ("name", "slug", "kind", "created_at")
    search_fields = ("name", "slug")
    ordering = ("slug", "id")
    fields: ClassVar[Any] = ("organization", "slug", "name", "kind")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Keep what keys are made of."""
        return ("organization", "slug", "kind") if obj is not None else ()

    def formfield_for_choice_field(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        """Leave out the source of golden answers, which publishing makes."""
        field = super().formfield_for_choice_field(db_field, request, **kwargs)
        if isinstance(field, forms.TypedChoiceField) and db_field.name == "kind":
            field.choices = [(k, label) for k, label in db_field.choices if k != SourceKind.GOLDEN]
        return field


class DirectoryForm(TenantForm):
    """A directory has one name and does not lie inside itself."""

    def clean_name(self) -> str:
        """Return the name as paths carry it."""
        try:
            names = segments(self.cleaned_data["name"])
        except FolderRefused as refusal:
            raise forms.ValidationError(gettext(str(refusal))) from None
        if len(names) != 1:
            raise forms.ValidationError(gettext(str(DirectoryRefused())))
        return names[0]

    def clean(self) -> dict[str, Any]:
        """Refuse a place below itself, and a name that another directory there has."""
        told = super().clean() or {}
        place = self._locked(told)
        if "parent" in told and "name" in told:
            self._check_place(place, told["name"])
        while place is not None and not self.instance._state.adding:
            if place.pk == self.instance.pk:
                raise forms.ValidationError(gettext(str(DirectoryRefused())))
            place = place.parent
        return told

    def _locked(self, told: dict[str, Any]) -> InstructionDirectory | None:
        """Return the chosen place as it is, and let nobody move anything until this is saved."""
        organization, place = told.get("organization"), told.get("parent")
        number = organization.pk if organization else self.instance.organization_id
        if number is None:
            return place
        lock_organization(number)
        rows = InstructionDirectory.objects
        asked = [one.pk for one in (place, self.instance) if one and not one._state.adding]
        if rows.filter(pk__in=asked).count() != len(set(asked)):
            raise forms.ValidationError(gettext(str(DirectoryGone())))
        return rows.get(pk=place.pk) if place else None

    def _check_place(self, place: InstructionDirectory | None, name: str) -> None:
        if self._is_taken(place, name):
            self.add_error("name", gettext(str(DirectoryNameTaken())))
        try:
            refuse_too_deep(self.instance, name, place)
        except FolderRefused as refusal:
            self.add_error("name", gettext(str(refusal)))

    def _is_taken(self, place: InstructionDirectory | None, name: str) -> bool:
        # The database would refuse it; its condition is on a column that no form shows.
        organization = self.cleaned_data.get("organization") or self.instance.organization_id
        beside = InstructionDirectory.objects.filter(
            organization=organization, parent=place, name=name
        )
        return beside.exclude(pk=self.instance.pk).exists()


@admin.register(InstructionDirectory)
class DirectoryAdmin(TenantAdmin):
    """The tree of instructions."""

    subject = "directory"
    form = DirectoryForm
    add_role = Role.EDITOR
    change_role = Role.EDITOR
    delete_role = Role.EDITOR
    list_display = ("path", "organization")
    list_select_related = ("organization", "parent__parent__parent")
    ordering = ("name", "id")
    search_fields = ("name",)
    autocomplete_fields = ("parent",)
    fields: ClassVar[Any] = ("organization", "parent", "name")

    def lock(self, row: InstructionDirectory) -> None:
        """Let the tree stand still, before the row: whoever moves something locks in this order."""
        lock_organization(row.organization_id)
        super().lock(row)

    @admin.display(description=_("path"), ordering="name")
    def path(self, directory: InstructionDirectory) -> str:
        """Return the directory with those above it."""
        return self.label_of(directory)

    def label_of(self, directory: InstructionDirectory) -> str:
        """Return the whole path: names alone are often the same."""
        names, place = [directory.name], directory.parent
        while place is not None:
            names.append(place.name)
            place = place.parent
        return " / ".join(reversed(names))

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:  # noqa: FBT001
        """Rename and move by the verb, which indexes again what is matched by the name."""
        if change:
            file_directory(obj, name=obj.name, parent=obj.parent, at=at_of(request))
        else:
            super().save_model(request, obj, form, change)

    def refusals(self, obj: InstructionDirectory) -> Sequence[str]:
        """Return what is filed in it or restricted to it."""
        filed = {
            _("It is used by directories: %s."): InstructionDirectory.every.filter(
                parent=obj
            ).values_list("name", flat=True),
            _("It is used by instructions: %s."): obj.instruction_set.values_list(
                "title", flat=True
            ),
            _("It is used by the scopes of agents: %s."): obj.directorypick_set.values_list(
                "agent__name", flat=True
            ),
        }
        return [
            str(sentence) % ", ".join(names[:NAMED]) for sentence, names in filed.items() if names
        ]
