"""How much a page takes is said before a byte of it is stored."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from config.bodies import MEBIBYTE, UPLOADS, USUAL
from knowledge.models import ImportUpload
from tests.staff import browser, office

pytestmark = pytest.mark.django_db
BIG = 10 * MEBIBYTE


@pytest.fixture
def staff():
    return office()


@pytest.fixture
def stored(settings, monkeypatch):
    """Every temporary file that an upload was written into."""
    made = []

    def note(self, *args, **more):
        made.append(self)
        return original(self, *args, **more)

    name = "django.core.files.uploadhandler.TemporaryFileUploadHandler.new_file"
    from django.core.files.uploadhandler import TemporaryFileUploadHandler

    original = TemporaryFileUploadHandler.new_file
    monkeypatch.setattr(name, note)
    settings.FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.TemporaryFileUploadHandler"]
    return made


def a_file(size):
    return SimpleUploadedFile("big.md", b"a" * size)


def checking(user=None):
    """A client whose forms are checked as in production."""
    client = Client(enforce_csrf_checks=True)
    if user is not None:
        client.cookies = browser(user).cookies
    return client


@pytest.mark.parametrize("address", ["/admin/login/", "/language/", "/admin/imports/new/", "/x"])
def test_a_stranger_sends_no_large_body_and_nothing_of_it_is_stored(address, stored):
    answer = checking().post(address, {"file": a_file(BIG)})
    assert (answer.status_code, stored) == (413, [])
    assert "That is more than this page takes." in answer.content.decode()


def test_a_program_is_told_in_the_envelope(stored):
    answer = Client().post("/api/v1/items", {"file": a_file(BIG)})
    assert (answer.status_code, stored) == (413, [])
    assert answer.json()["error"]["code"] == "body_too_large"


def test_somebody_signed_in_sends_no_large_body_to_a_page_that_takes_none(staff, stored):
    assert staff.as_("editor").post("/admin/", {"file": a_file(BIG)}).status_code == 413
    assert stored == []


def test_the_import_page_takes_a_large_file_from_who_is_signed_in(staff):
    source = staff.acme.source()
    sent = {"source": str(source.pk), "folder": "desk", "files": [a_file(BIG)]}
    assert staff.as_("editor").post(reverse("admin:import_new"), sent).status_code == 302
    with staff.acme.context():
        assert ImportUpload.objects.get().size == BIG


def test_the_import_page_takes_no_more_than_it_says(staff, stored, monkeypatch):
    monkeypatch.setitem(UPLOADS, reverse("admin:import_new"), BIG)
    sent = {"files": [a_file(BIG)]}
    assert staff.as_("editor").post(reverse("admin:import_new"), sent).status_code == 413
    assert stored == []


def test_what_a_page_usually_takes_is_taken(stored):
    answer = Client().post("/admin/login/", {"file": a_file(USUAL - 1000)})
    assert (answer.status_code, len(stored)) == (200, 1)


def test_a_body_of_unknown_length_is_refused():
    answer = Client().post("/admin/login/", headers={"Transfer-Encoding": "chunked"})
    assert answer.status_code == 411


def test_every_address_that_takes_uploads_is_one():
    assert list(UPLOADS) == [reverse("admin:import_new")]
