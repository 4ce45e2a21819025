"""The web server's way in."""

from __future__ import annotations

import os

import django
from django.db import OperationalError, connection
from django.urls import get_resolver

from config.database.pooling import forget_connections, share_connections
from config.env import env_int
from config.handling import Application
from config.tracing import start_tracing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.prod")
django.setup(set_prefix=False)
application = Application()
start_tracing()
share_connections(env_int("EARMARK_WEB_CONNECTIONS", high=256))
# Otherwise the first request would wait for these imports, and be the one to find them broken.
list(get_resolver().url_patterns)

# The first connection refuses an unsafe role; asking for it here stops the start instead of the
# first request. A database that does not answer yet is asked again by every request.
try:
    connection.ensure_connection()
except OperationalError:
    pass
finally:
    forget_connections()
