"""What every test can rely on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
from django.utils import translation
from hypothesis import HealthCheck, settings
from pytest_django.plugin import DjangoDbBlocker

from knowledge.embedding.selection import forget_active_space
from tests.database import fresh_database

CATEGORIES: Final = (
    "architecture", "contract", "e2e", "faults", "integration", "property", "unit"
)  # fmt: skip
HERE: Final = Path(__file__).parent

settings.register_profile(
    "quick", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "full", settings.get_profile("quick"), max_examples=300, stateful_step_count=30
)
settings.load_profile("quick")


def pytest_configure(config: pytest.Config) -> None:
    for category in CATEGORIES:
        config.addinivalue_line("markers", f"{category}: tests in tests/{category}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        category = item.path.relative_to(HERE).parts[0]
        if category not in CATEGORIES:
            raise pytest.UsageError(
                f"{item.path} belongs in one of tests/{{{','.join(CATEGORIES)}}}."
            )
        item.add_marker(category)


@pytest.fixture(scope="session")
def django_db_setup(
    request: pytest.FixtureRequest,
    django_test_environment: None,
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[None]:
    worker = getattr(request.config, "workerinput", {}).get("workerid", "alone")
    with django_db_blocker.unblock(), fresh_database(worker):
        yield


@pytest.fixture(autouse=True)
def _no_space_is_remembered() -> None:
    """A process remembers for a moment which space is active; every test has rows of its own."""
    forget_active_space()


@pytest.fixture
def at() -> datetime:
    return datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _no_language_is_left_behind() -> Iterator[None]:
    """A request leaves its language to the thread; the next test begins in the usual one."""
    yield
    translation.deactivate()
