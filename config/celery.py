"""Celery, for installations that have a broker. It carries nudges; the queue of record is a table."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.prod")
app = Celery("earmark")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Nudges are sent from threads of their own, which know no current app.
app.set_default()
