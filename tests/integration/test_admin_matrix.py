"""Every address of the admin, for every kind of person; a new address without a row fails."""

from __future__ import annotations

import uuid

import pytest
from django.contrib import admin
from django.urls import URLPattern, URLResolver, get_resolver

from tests.staff import Office, office

pytestmark = pytest.mark.django_db

PEOPLE = ("operator", "admin", "editor", "viewer", "rival", "stranger", "nobody")
SIGN_IN = 302

# What a GET of an address answers, in the order of PEOPLE. A row of another organization and a row
# that is not there are the same 404; a page of one's own that the role leaves out is a 403.
LISTS = {
    "user": (200, 403, 403, 403, 403, 403),
    "membership": (200, 200, 403, 403, 200, 403),
    "servicekeybinding": (200, 200, 403, 403, 200, 403),
}
READ = (200, 200, 200, 200, 200, 403)
ADDS = {
    "user": (200, 403, 403, 403, 403, 403),
    "organization": (200, 403, 403, 403, 403, 403),
    **dict.fromkeys(
        ("membership", "contact", "servicekeybinding", "segment", "phoneagent"),
        (200, 200, 403, 403, 200, 403),
    ),
    **dict.fromkeys(
        ("source", "sourceschedule", "importrun", "instructiondirectory", "instruction", "item"),
        (200, 200, 200, 403, 200, 403),
    ),
}
NEVER = (403, 403, 403, 403, 403, 403)
ROWS = {
    "user": (200, 404, 404, 404, 404, 404),
    "membership": (200, 200, 404, 404, 404, 404),
    "servicekeybinding": (200, 200, 404, 404, 404, 404),
    "embeddingspace": (200, 200, 200, 200, 200, 403),
}
ROW = (200, 200, 200, 200, 404, 404)
DELETES = {
    "user": (403, 404, 404, 404, 404, 404),
    "membership": (200, 200, 404, 404, 404, 404),
    **dict.fromkeys(("instructiondirectory", "sourceschedule"), (200, 200, 200, 403, 404, 404)),
    "embeddingspace": (403, 403, 403, 403, 403, 403),
    **dict.fromkeys(("contact", "segment", "phoneagent"), (200, 200, 403, 403, 404, 404)),
}
KEPT = (403, 403, 403, 403, 404, 404)
KEYS = {"servicekeybinding": (403, 403, 404, 404, 404, 404)}
PRESSED: dict[str, tuple[int, ...]] = {
    # A call has no button; there is nothing to press.
    "voicesession": (404,) * 6,
    "servicekeybinding": (405, 405, 404, 404, 404, 404),
}
SITE: dict[str | None, tuple[int, ...]] = {
    "index": (200, 200, 200, 200, 200, 200),
    "login": (302, 302, 302, 302, 302, 302),
    "password_change": (200,) * 6,
    "password_change_done": (200,) * 6,
    "jsi18n": (200,) * 6,
    "autocomplete": (403,) * 6,
    "app_list": (200, 200, 200, 200, 200, 404),
    "search_as_agent": (200, 200, 200, 200, 404, 404),
    "experiment": (200, 200, 200, 200, 404, 404),
    **dict.fromkeys(("quality", "spaces"), READ),
    # A space is the whole installation's, so only operators act on one.
    **dict.fromkeys(
        ("space_fill", "space_switch", "space_drop", "space_rollback"),
        (200, 403, 403, 403, 403, 403),
    ),
    "call_heard": (200, 200, 200, 200, 404, 404),
    "status": READ,
    "who_finds_item": (200, 200, 200, 200, 404, 404),
    "who_finds_instruction": (200, 200, 200, 200, 404, 404),
    "second_factor": (200,) * 6,
    "people": (200, 200, 403, 403, 200, 403),
    **dict.fromkeys(
        ("people_invite", "people_person", "people_remove"), (200, 200, 403, 403, 404, 404)
    ),
    "people_invitation": (405, 405, 403, 403, 404, 404),
    **dict.fromkeys(("instruction_tree", "instruction_deleted"), READ),
    "instruction_new": (200, 200, 200, 403, 200, 403),
    "directory_new": (200, 200, 200, 403, 200, 403),
    "instruction_show": ROW,
    **dict.fromkeys(
        ("instruction_edit", "instruction_move", "directory_decide"),
        (200, 200, 200, 403, 404, 404),
    ),
    "instruction_decide": (200, 200, 200, 403, 404, 404),
    # It was published elsewhere, so that no version of it is kept yet.
    "instruction_version": (404,) * 6,
    "import_new": (200, 200, 200, 403, 200, 403),
    "import_progress": ROW,
    "import_do": (405, 405, 405, 403, 404, 404),
    "browse_organizations": (200, 302, 302, 302, 302, 403),
    **dict.fromkeys(
        ("browse", "browse_item", "browse_jobs", "browse_job"), (200, 200, 200, 200, 404, 404)
    ),
    # Which folder is meant, the address does not say.
    "browse_folder": (404, 404, 404, 403, 404, 404),
    **dict.fromkeys(("browse_do", "browse_job_do"), (405,) * 6),
    "logout": (405,) * 6,
    None: (404,) * 6,
    **dict.fromkeys(
        ("golden_list", "golden_queue", "golden_corrections", "golden_coverage", "golden_export"),
        READ,
    ),
    **dict.fromkeys(("golden_new", "golden_import"), (200, 200, 403, 403, 200, 403)),
    "golden_compare_index": (405, 405, 403, 403, 405, 403),
    "golden_answer": ROW,
    **dict.fromkeys(
        ("golden_edit", "golden_decide", "golden_correct"), (200, 200, 403, 403, 404, 404)
    ),
    "golden_retry": (405, 405, 405, 405, 404, 404),
    # It has no draft to check, its versions are not named, and the item is no correction.
    **dict.fromkeys(("golden_checks", "golden_compare", "golden_decide_correction"), (404,) * 6),
}
# The parts of the scope page answer a script; without saying which root, there is nothing.
SELECTOR = {
    "scope": ROW,
    **dict.fromkeys(("scope_folder", "scope_find", "scope_root"), (404,) * 6),
    **dict.fromkeys(("scope_review", "scope_save", "scope_preview", "scope_restore"), (405,) * 6),
    "scope_history": ROW,
    "scope_change": (404,) * 6,
    "scope_copy": (200, 200, 403, 403, 404, 404),
}
BUTTONS = {
    "item": "withdraw", "instruction": "withdraw", "servicekeybinding": "revoke",
    "phoneagent": "make_scopes", "voicesession": "none", "importfailure": "resolve",
    "sourceschedule": "sync_now", "indexstate": "retry",
}  # fmt: skip


@pytest.fixture
def staff():
    return office()


def admin_routes():
    """Every address below /admin/, as (name, model or None, route with its parameters)."""
    resolver = get_resolver()
    root = next(r for r in resolver.url_patterns if getattr(r, "app_name", "") == "admin")
    return list(_walk(root, "/admin/"))


def _walk(resolver, prefix):
    for pattern in resolver.url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern, route)
        elif isinstance(pattern, URLPattern):
            yield pattern.name, route


MODELS = {
    f"{m._meta.app_label}_{m._meta.model_name}": m._meta.model_name for m in admin.site._registry
}


def _model_of(name):
    if name == "auth_user_password_change":
        return "user", "password_change"
    return next(((model, name[len(key) + 1 :]) for key, model in MODELS.items()
                 if name and name.startswith(key + "_")), (None, name))  # fmt: skip


def _expected(model, kind):
    table = {
        "changelist": LISTS.get(model, READ),
        "add": ADDS.get(model, NEVER),
        "change": ROWS.get(model, ROW),
        "history": ROWS.get(model, ROW),
        "delete": DELETES.get(model, KEYS.get(model, KEPT)),
        "do": PRESSED.get(model, (405, 405, 405, 405, 404, 404)),
        "password_change": ROWS["user"],
        **SELECTOR,
    }
    return table[kind]


def _address(staff: Office, route, model):
    row = staff.rows.get(model or "")
    pk = str(row.pk) if row is not None else ""
    golden, record = str(staff.rows["golden"].pk), str(staff.rows["searchrecord"].pk)
    for given, value in (
        ("decide/<slug:name>", "decide/delete"), ("<int:number>", "1"),
        ("<uuid:directory_id>/<slug:name>", f"{staff.rows['instructiondirectory'].pk}/rename"),
        ("<uuid:invitation_id>/<slug:name>", f"{uuid.uuid4()}/again"), ("<slug:slug>", "acme"),
        ("<int:person_id>", str(staff.rows["user"].pk)),
        ("<uuid:golden_id>/<slug:name>", f"{golden}/archive"), ("<uuid:golden_id>", golden),
        ("<uuid:item_id>/<slug:name>", f"{staff.rows['item'].pk}/approve"),
        ("<int:space_id>", str(staff.rows["embeddingspace"].pk)), ("<uuid:search_id>", record), ("<slug:organization>", "acme"),
        ("<uuid:job_id>", str(staff.rows["bulkjob"].pk)), ("<slug:form>", "csv"),
        ("<path:object_id>", pk), ("<id>", pk), ("<slug:name>", BUTTONS.get(model, "")),
        ("<uuid:agent_id>", str(staff.rows["phoneagent"].pk)),
        ("<uuid:run_id>", str(staff.rows["importrun"].pk)), ("<slug:verb>", "pause"),
        ("<uuid:entry>", str(uuid.uuid4())),
        ("<uuid:item_id>", str(staff.rows["item"].pk)),
        ("<uuid:instruction_id>", str(staff.rows["instruction"].pk)),
        ("<uuid:session_id>", str(staff.rows["voicesession"].pk)),
        ("(?P<url>.*)$", "nowhere/"),
    ):  # fmt: skip
        route = route.replace(given, value)
    return "/admin/tenants/" if "(?P<app_label>" in route else route


def test_every_address_answers_everybody_as_the_table_says(staff):
    wrong = []
    for name, route in admin_routes():
        model, kind = _model_of(name)
        if model is None and route.count("<path:object_id>"):
            continue  # the old address of a row, which only redirects to the new one
        expected = _expected(model, kind) if model else SITE[kind]
        address = _address(staff, route, model)
        for who, status in zip(PEOPLE, (*expected, None), strict=True):
            answer = staff.as_(who).get(address)
            wanted = status if status is not None else _signed_out(kind)
            if answer.status_code != wanted:
                wrong.append((address, who, answer.status_code, wanted))
    assert not wrong, "\n".join(map(str, wrong))


def _signed_out(kind):
    return 200 if kind == "login" else SIGN_IN


@pytest.mark.parametrize("who", ["rival", "stranger"])
def test_a_foreign_row_and_a_missing_one_are_the_same_answer_byte_for_byte(staff, who):
    client = staff.as_(who)
    for name, route in admin_routes():
        model, kind = _model_of(name)
        if model in {None, "embeddingspace"} or kind not in {"change", "delete", "history", "do"}:
            continue
        theirs = _address(staff, route, model)
        pk = str(staff.rows[model].pk)
        missing = theirs.replace(f"/{pk}/", f"/{uuid.uuid4() if '-' in pk else 999_999}/")
        for method in ("get", "post"):
            answers = [getattr(client, method)(address) for address in (theirs, missing)]
            assert [a.status_code for a in answers] == [404, 404], theirs
            assert answers[0].content == answers[1].content, theirs


def test_a_foreign_agent_cannot_be_searched_as(staff):
    client = staff.as_("rival")
    pages = [
        f"/admin/agents/{pk}/search/?q1=hours" for pk in (staff.rows["phoneagent"].pk, uuid.uuid4())
    ]
    first, second = (client.get(page) for page in pages)
    assert (first.status_code, first.content) == (404, second.content)
