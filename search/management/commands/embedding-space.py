# ruff: noqa: N999 - the hyphen is how people type it
"""The name under which `manage.py` finds search.management.spaces."""

from __future__ import annotations

from search.management.spaces import Command

__all__ = ["Command"]
