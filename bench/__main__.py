"""`make bench`: how long exact search behind every gate takes, beside others, in one run."""

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evals.settings")
# Haystack reports its use to its makers unless it is told not to.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

import sys

import django

django.setup()

from bench.running import main  # noqa: E402 - Django comes first

sys.exit(main())
