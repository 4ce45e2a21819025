"""Puts the pages of this package into the admin site."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from knowledge.editor.deciding import decide, move
from knowledge.editor.directories import decide_directory, new_directory
from knowledge.editor.editing import edit_instruction, new_instruction
from knowledge.editor.reading import show_deleted, show_instruction, show_tree, show_version
from tenants.admin_site import EarmarkSite

_ONE = "instructions/<uuid:instruction_id>/"


def add_pages(site: EarmarkSite) -> None:
    """Add them."""
    site.add_page("instructions/", show_tree, "instruction_tree")
    site.add_page("instructions/new/", new_instruction, "instruction_new")
    site.add_page("instructions/deleted/", show_deleted, "instruction_deleted")
    site.add_page(_ONE, show_instruction, "instruction_show")
    site.add_page(f"{_ONE}edit/", edit_instruction, "instruction_edit")
    site.add_page(f"{_ONE}move/", move, "instruction_move")
    site.add_page(f"{_ONE}versions/<int:number>/", show_version, "instruction_version")
    site.add_page(f"{_ONE}decide/<slug:name>/", decide, "instruction_decide")
    site.add_page("instruction-directories/new/", new_directory, "directory_new")
    site.add_page(
        "instruction-directories/<uuid:directory_id>/<slug:name>/",
        decide_directory,
        "directory_decide",
    )
    site.add_section(
        _("Instructions"),
        [
            (_("Read and write"), "admin:instruction_tree", ""),
            (_("Deleted"), "admin:instruction_deleted", ""),
        ],
    )
