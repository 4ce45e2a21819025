"""How long a page of a folder takes at the server: a hundred thousand items, their last page, and fifty items.

Asked through the whole site, by the scope page and by the knowledge browser, in turns. It needs the admin's
pages, which the other parts leave out, so it runs in a process of its own: `python -m bench.folders DATABASE`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, Final

from bench.parts import Options, Outcome

LARGE: Final = 100_000
SMALL: Final = 50
ROUNDS: Final = 40
MOST_APART: Final = 1.5
MOST_ROWS: Final = 51
DATABASE: Final = "bench_folders_"
_ITEMS: Final = """
INSERT INTO knowledge_item (id, organization_id, source_id, external_id, title, body, folder_key, kind, dataset,
  review_status, parse_status, phrasings, url, source_tag, metadata, agent_restricted, agents, domain, entity_type,
  entity_key, corpus_digest, language, visibility, channel_restricted, channels, segment_restricted, segments,
  jurisdiction_restricted, jurisdictions, generation, content_hash, lock_version)
SELECT gen_random_uuid(), %s, %s, %s || n, 'Item ' || md5(n::text), 'Text.', %s, 'knowledge', 'default-kb', 'approved',
  'parsed', '{}', '', '', '{}', false, '{}', '', '', '', '', 'en', 'public', false, '{}', false, '{}', false, '{}', 1,
  '', 1
  FROM generate_series(1, %s) AS n
"""


def measure(_options: Options) -> Outcome:
    """Print the times and how far apart they are; a fault when a promise is not kept."""
    from config.scratch import digest_of, scratch_database

    name = DATABASE + digest_of("bench/folders.py", "*/migrations/*.py")
    scratch_database(name)
    told = subprocess.run(  # noqa: S603 - this module, in a process of its own
        [sys.executable, "-m", "bench.folders", name],
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings.test"},
        stdout=subprocess.PIPE, check=True, text=True,
    )  # fmt: skip
    figures: dict[str, Any] = json.loads(told.stdout.splitlines()[-1])
    faults = [fault for door, found in figures.items() for fault in _faults(door, found)]
    for door, found in figures.items():
        pages = ", ".join(f"{page} {ms} ms" for page, ms in found["ms"].items())
        print(f"{door:>9}  {pages}; {found['apart']} times apart, {found['rows']} rows", flush=True)
    return Outcome(figures, tuple(faults))


def _faults(door: str, found: dict[str, Any]) -> list[str]:
    faults = []
    if found["apart"] > MOST_APART:
        faults.append(f"{door}: pages are {found['apart']} times apart, {MOST_APART} allowed")
    if found["rows"] > MOST_ROWS:
        faults.append(f"{door}: {found['rows']} rows in one page, {MOST_ROWS} allowed")
    return faults


def inside(name: str) -> dict[str, Any]:
    """Fill the database unless it is full, and ask each page in turns."""
    import django

    django.setup()
    from django.test.utils import setup_test_environment

    from config.scratch import point_at

    setup_test_environment()
    point_at(name)
    get, agent = _filled(name)
    last = _last_page()
    doors = {
        "selector": (f"/admin/tenants/phoneagent/{agent}/scope/folder/?root=knowledge&", '<li class="row"'),
        "browser": ("/admin/browse/bench/?", '<li class="browse__row"'),
    }  # fmt: skip
    return {door: _asked(get, address, mark, last) for door, (address, mark) in doors.items()}


def _asked(get: Callable[[str], str], address: str, mark: str, last: str) -> dict[str, Any]:
    pages = {
        "fifty": "place=docs/small",
        "first": "place=docs/large",
        "last": f"place=docs/large&{last}",
    }
    best: dict[str, float] = {}
    rows = 0
    for _round in range(ROUNDS):
        for page, asked in pages.items():
            began = time.perf_counter()
            rows = max(rows, get(address + asked).count(mark))
            took = (time.perf_counter() - began) * 1000
            best[page] = min(took, best.get(page, took))
    told = {page: round(ms, 2) for page, ms in best.items()}
    return {"ms": told, "apart": round(max(best.values()) / best["fifty"], 2), "rows": rows}


def _last_page() -> str:
    from knowledge.places import Cursor

    return f"cursor={Cursor(backward=True).text()}"


def _filled(name: str) -> tuple[Callable[[str], str], Any]:
    """Return how a page is got by somebody who is signed in, and the agent whose scope is asked."""
    from django.test import Client

    from config.scratch import note, noted, superuser
    from scopes.selecting import create_scopes
    from tenants.isolation import organization_context
    from tenants.models import Organization, PhoneAgent, User

    organization, _ = Organization.objects.get_or_create(slug="bench", name="Bench")
    user, _ = User.objects.get_or_create(username="bench", is_staff=True, is_superuser=True)
    with organization_context(organization.pk):
        agent, is_new = PhoneAgent.objects.get_or_create(
            organization=organization, slug="bench",
            defaults={"name": "Bench", "base_instructions": "Answer.", "fallback": "Later."},
        )  # fmt: skip
        if is_new:
            create_scopes(agent)
        source = _source(organization)
    if not noted(name):
        with superuser(name) as connection:
            connection.execute("SET session_replication_role = replica")
            for folder, count in (("large", LARGE), ("small", SMALL)):
                values = (organization.pk, source, folder, f"docs/{folder}", count)
                connection.execute(_ITEMS, values)
            connection.execute("VACUUM ANALYZE")
        note(name, "loaded")
    client = Client()
    client.force_login(user, backend="tenants.sign_in.SignInBackend")
    return (lambda address: _page(client, address)), agent.pk


def _source(organization: Any) -> Any:
    from knowledge.models import Source

    return Source.objects.get_or_create(organization=organization, slug="docs", name="Docs")[0].pk


def _page(client: Any, address: str) -> str:
    answer = client.get(address)
    if answer.status_code != 200:
        raise RuntimeError(f"{address}: {answer.status_code}")
    return str(answer.content.decode())


if __name__ == "__main__":
    print(json.dumps(inside(sys.argv[1])))
