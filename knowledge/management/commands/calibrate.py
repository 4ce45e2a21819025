"""`manage.py calibrate`: measure the corpora again now, and show what was found."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from knowledge.calibration.fitting import fit
from knowledge.calibration.shipped import write_vectors
from knowledge.embedding.selection import current_embedder
from knowledge.embedding.spaces import ensure_space
from knowledge.models import CalibrationProfile
from knowledge.passages import CHUNKER_VERSION
from tenants.models import Organization

ERRORS = {
    "false_refusal": "own sentences and phrasings refused",
    "false_answer": "general questions answered, in the corpus's languages",
    "false_answer_elsewhere": "general questions answered, in other languages",
}


class Command(BaseCommand):
    """Fit the calibration profile of one organization or of all."""

    help = "Measure the corpora again and show what was found."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which organization."""
        parser.add_argument("--organization", help="Slug; without it, every organization.")
        parser.add_argument(
            "--write-bank",
            action="store_true",
            help="For developers: write the bank's vectors after its questions or the model changed.",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Fit and print one block for each organization."""
        if options["write_bank"]:
            self.stdout.write(f"{write_vectors(current_embedder())} questions written.")
            return
        found = Organization.objects.all()
        if options["organization"]:
            found = found.filter(slug=options["organization"])
        if not found:
            raise CommandError("There is no such organization.")
        embedder = current_embedder()
        space = ensure_space(embedder.space, chunker_version=CHUNKER_VERSION)
        for organization in found:
            profile = fit(organization.pk, space, embedder, at=datetime.now(tz=UTC))
            self.stdout.write(f"{organization.slug}: {_described(profile)}")


def _described(profile: CalibrationProfile) -> str:
    lines = [
        f"version {profile.version}, {profile.passages} passages"
        f" in {', '.join(profile.languages) or 'no known language'},"
        f" cosine deviation {profile.cosine_deviation:.4f}"
    ]
    named = dict(profile.parameters.get("bank", {}))
    if "imitated" in profile.parameters:
        named["imitated"] = profile.parameters["imitated"]
    lines += [
        f"  {name:8} {f['count']:5} questions, best cosine {f['mean']:.3f} ± {f['deviation']:.3f},"
        f" share {f['share']:.2f}"
        for name, f in sorted(named.items())
    ]
    stated = profile.parameters.get("errors", {})
    lines += [f"  {said}: {_rate(stated[name])}" for name, said in ERRORS.items() if name in stated]
    return "\n".join(lines)


def _rate(found: dict[str, Any]) -> str:
    return (
        f"{found['rate']:.1%}, between {found['low']:.1%} and {found['high']:.1%}"
        f" (95 %), of {found['count']} held out"
    )
