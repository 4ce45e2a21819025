"""Saying how a source is kept fresh: checked when it is said, not only when it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from knowledge.models import Source, SourceSchedule, SyncKind
from knowledge.sources.errors import SourceMisconfigured
from knowledge.sources.files import allowed_path
from knowledge.sources.finding import LONGEST_ADDRESS, MOST_PAGES, normal
from knowledge.sources.reach import lies_below, prefix_of
from tenants.auditing import Actor, Change, note

ARRANGED: Final = ("kind", "config", "every_minutes", "is_active")


def arrange(source: Source, said: Mapping[str, Any], *, by: Actor, at: datetime) -> SourceSchedule:
    """Have a source kept fresh as it is said; it is looked at soon.

    Raises: SourceMisconfigured, AddressRefused
    """
    schedule = SourceSchedule(organization=source.organization, source=source, next_run_at=at)
    return _put(schedule, said, by=by, at=at)


def rearrange(
    schedule: SourceSchedule, said: Mapping[str, Any], *, by: Actor, at: datetime
) -> SourceSchedule:
    """Change what is said of a locked schedule; what it is made of is looked at soon.

    Raises: SourceMisconfigured, AddressRefused
    """
    if any(said.get(name, value) != value for name, value in _made_of(schedule).items()):
        schedule.next_run_at = at
    return _put(schedule, said, by=by, at=at)


def _put(
    schedule: SourceSchedule, said: Mapping[str, Any], *, by: Actor, at: datetime
) -> SourceSchedule:
    is_new = schedule._state.adding
    before = {} if is_new else arranged(schedule)
    for name in ARRANGED:
        if name in said:
            setattr(schedule, name, said[name])
    check_config(schedule)
    schedule.save()
    after = arranged(schedule)
    changed = [name for name in after if before.get(name) != after[name]]
    told = Change(
        "source.schedule", "source_schedule", str(schedule.pk),
        {name: before[name] for name in changed if name in before},
        {name: after[name] for name in changed},
    )  # fmt: skip
    if changed:
        note(schedule.organization_id, told, by=by, at=at)
    return schedule


def arranged(schedule: SourceSchedule) -> dict[str, Any]:
    """Return what may be said of a schedule."""
    return {name: getattr(schedule, name) for name in ARRANGED}


def _made_of(schedule: SourceSchedule) -> dict[str, Any]:
    return {"kind": schedule.kind, "config": schedule.config}


def check_config(schedule: SourceSchedule) -> None:
    """Refuse a configuration that could not be looked at.

    Raises: SourceMisconfigured, AddressRefused
    """
    kind, config = SyncKind(schedule.kind), schedule.config
    known, check = _CHECKS.get(kind, (frozenset({"path"}), None))
    if not isinstance(config, dict) or (unknown := sorted(set(config) - known)):
        named = f'"{unknown[0]}"' if isinstance(config, dict) else "that"
        raise SourceMisconfigured(f"A source of this kind is not told {named[:80]}.")
    if check is None:
        allowed_path(schedule)
    else:
        check(config)


def _check_site(config: Mapping[str, Any]) -> None:
    start = _address(config.get("start"), 'Say under "start" where the site begins.')
    prefix = config.get("prefix")
    if prefix is not None:
        _address(prefix, '"prefix" is the beginning of a web address.')
    sitemap = config.get("sitemap")
    if sitemap is not None and sitemap is not False:
        _address(sitemap, '"sitemap" is a web address, or false to follow links instead.')
    if prefix is not None and not lies_below(start, prefix_of(prefix)):
        raise SourceMisconfigured('"start" lies below "prefix".')


def _check_urls(config: Mapping[str, Any]) -> None:
    urls = config.get("urls")
    if not isinstance(urls, list) or not 0 < len(urls) <= MOST_PAGES:
        raise SourceMisconfigured(f'Say under "urls" 1 to {MOST_PAGES} web addresses.')
    for url in urls:
        _address(url, 'Under "urls" are web addresses.')


def _address(said: Any, otherwise: str) -> str:
    if not isinstance(said, str) or not 0 < len(said) <= LONGEST_ADDRESS:
        raise SourceMisconfigured(otherwise)
    return normal(said)


_CHECKS: Final[dict[SyncKind, tuple[frozenset[str], Callable[[Mapping[str, Any]], None]]]] = {
    SyncKind.SITE: (frozenset({"start", "prefix", "sitemap"}), _check_site),
    SyncKind.URLS: (frozenset({"urls"}), _check_urls),
}
