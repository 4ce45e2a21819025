"""A real browser, the one that is installed on this machine."""

from __future__ import annotations

import os
import shutil
from typing import Any

import pytest
from playwright.sync_api import expect

# A slow machine answers late; what is expected is waited for, never slept for.
expect.set_options(timeout=30_000)
# Playwright keeps an event loop in the thread of the test, and Django then refuses database calls
# there although nothing runs at the same time.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(path for name in names if (path := shutil.which(name)))
    # Chromium has no sandbox for root.
    return {"executable_path": found, "args": ["--no-sandbox"] if os.geteuid() == 0 else []}
