"""The settings of the tests, with the embedder that the environment asks for."""

from __future__ import annotations

from config.settings.base import EMBEDDING_MODEL as WANTED_MODEL
from config.settings.test import *  # noqa: F403

EMBEDDING_MODEL = WANTED_MODEL
