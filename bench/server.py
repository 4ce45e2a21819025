"""`python -m bench.server`: the production web server under load, by processes, threads and connections.

Shortened by SECONDS, CLIENTS and CONFIGURATIONS (processes x threads x shared connections, as 2x24x10).
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Final

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evals.settings")

import django

django.setup()

from bench.load import loads_on, targets_of  # noqa: E402 - Django comes first
from bench.loading import loaded  # noqa: E402
from bench.running import options_from  # noqa: E402
from bench.scopes import scope_of  # noqa: E402
from bench.serving import earmark, embedder  # noqa: E402

PASSAGES: Final = 12_000
CONFIGURATIONS: Final = os.environ.get("CONFIGURATIONS", "2x8x0,2x16x0,2x16x8,2x24x10").split(",")


def main() -> int:
    """Print throughput and latency of every configuration; 1 when something broke."""
    corpus = loaded(PASSAGES, organizations=1)
    scopes = {"whole": scope_of(corpus, "whole", None)}
    broken = 0
    with embedder() as port, tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        for configuration in CONFIGURATIONS:
            print(f"{configuration}: processes x threads x shared connections")
            with earmark(corpus.database, port, log, configuration) as ours:
                targets = targets_of(corpus, scopes, ours)
                loads = list(loads_on(targets, options_from(os.environ), log))
            broken += sum(load.other for load in loads)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
