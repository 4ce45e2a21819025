"""`manage.py demo`: make the demo organization, and print how to get in as JSON."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand

from config.demo import (
    load_answers,
    load_content,
    load_people,
    load_scopes,
    read_world,
    renew_access,
)
from config.demo_vectors import calibrate, index_now, load_vectors, write_vectors
from knowledge.embedding.selection import current_embedder
from knowledge.embedding.spaces import ensure_space
from knowledge.passages import CHUNKER_VERSION


class Command(BaseCommand):
    """Make the demo organization."""

    help = "Make the demo organization (again changes nothing) and print new access to it as JSON."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """How."""
        parser.add_argument(
            "--write-vectors",
            action="store_true",
            help="For developers: write demo/vectors.npz after the texts or the embedder changed.",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Make it."""
        at = datetime.now(tz=UTC)
        embedder = current_embedder()
        demo = load_people(read_world(), at=at)
        organization_id = demo.organization.pk
        load_vectors(organization_id, embedder)
        load_content(demo)
        load_answers(demo)
        load_scopes(demo)
        bought = index_now(embedder, at=datetime.now(tz=UTC))
        calibrate([organization_id], embedder, at=at)
        if options["write_vectors"]:
            space = ensure_space(embedder.space, chunker_version=CHUNKER_VERSION)
            written = write_vectors(organization_id, space)
            self.stderr.write(f"{written} vectors written, {bought} of them new.")
        self.stdout.write(json.dumps(renew_access(demo)))
