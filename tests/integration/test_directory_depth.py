"""No way of making, renaming, moving or restoring makes a directory whose path is longer than paths may be."""

from __future__ import annotations

import pytest

from knowledge.editor.clearing import bring_directory_back, contents_of, delete_everything
from knowledge.editor.holding import Hand
from knowledge.editor.placing import directory_at, file_elsewhere, seen_place
from knowledge.errors import FolderRefused
from knowledge.indexing.filing import file_directory
from knowledge.indexing.writing import ensure_directory
from knowledge.models import InstructionDirectory
from tests.staff import office
from tests.world import AT, BY, tenant

pytestmark = pytest.mark.django_db
HAND = Hand(BY, AT)
LONG = "d" * 190


@pytest.fixture
def acme():
    return tenant("acme")


def found(acme, pk):
    with acme.context():
        return directory_at(acme.organization.pk, pk)


def moved(acme, pk, parent):
    directory = found(acme, pk)
    told = {"name": directory.name, "parent_id": parent, "seen": seen_place(directory)}
    return file_elsewhere(acme.organization.pk, pk, HAND, **told)


def test_a_path_with_too_many_names_is_not_made(acme):
    with acme.context(), pytest.raises(FolderRefused):
        ensure_directory(acme.organization.pk, "/".join("a" * 40))
    with acme.context():
        assert not InstructionDirectory.objects.exists()


def test_a_longer_name_above_long_paths_is_refused(acme):
    acme.directory("/".join([LONG] * 5))
    with acme.context():
        top = InstructionDirectory.objects.get(parent=None)
        with pytest.raises(FolderRefused):
            file_directory(top, name="é" * 190, parent=None, at=AT)


def test_a_move_below_long_paths_is_refused(acme):
    deep, top = acme.directory("/".join([LONG] * 4)), acme.directory("x")
    acme.directory(f"x/{LONG}/{LONG}")
    with pytest.raises(FolderRefused):
        moved(acme, top, deep)


def test_what_no_longer_fits_below_is_not_brought_back(acme):
    acme.directory(f"around/inner/{LONG}/{LONG}")
    deep = acme.directory("/".join([LONG] * 4))
    away = found(acme, acme.directory("around/inner"))
    with acme.context():
        seen = contents_of(away).seen
    delete_everything(acme.organization.pk, away.pk, HAND, seen=seen)
    moved(acme, away.parent_id, deep)
    with pytest.raises(FolderRefused):
        bring_directory_back(acme.organization.pk, away.pk, HAND)
    with acme.context():
        assert not InstructionDirectory.objects.filter(pk=away.pk).exists()


def test_a_directory_too_deep_is_refused_in_its_box():
    staff = office()
    deep = staff.acme.directory("/".join([LONG] * 5))
    own = {"organization": staff.acme.organization.pk, "parent": str(deep), "name": LONG}
    answer = staff.as_("admin").post("/admin/knowledge/instructiondirectory/add/", own)
    assert dict(answer.context["adminform"].form.errors) == {
        "name": ["The folder path is too long."]
    }
