"""`make eval`: measures answers on the sets of a folder and holds them to the baseline."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from config.private import ROOT
from evals import baseline, targets
from evals.baseline import Fall, Measured
from evals.measuring import slices_of
from evals.picture import picture
from evals.report import as_json, keep, table
from evals.running import Order, ask_set, crew, fusion, make_corpora, set_up
from evals.sets import names_in

DEFAULT_FOLDER = ROOT.parent / "shared" / "evals"
PICTURE = ROOT / "docs" / "evaluation.svg"
DEFAULT_SAMPLE = 200


def main() -> int:
    """Run, print, compare, write what was asked for; 1 when a figure fell."""
    folder = Path(os.environ.get("EVALS") or DEFAULT_FOLDER)
    names = os.environ.get("SETS", "").replace(",", " ").split() or names_in(folder)
    missing = [name for name in names if name not in names_in(folder)]
    if missing or not names:
        sys.exit(_where(folder, missing))
    set_up()
    # Another fusion is measured to be compared, and holds to nobody's baseline.
    known = {} if fusion() else baseline.stored(_baseline_file())
    results, fallen = _run(folder, names, known)
    _write(results)
    print(*fallen, sep="\n", file=sys.stderr)
    return 1 if fallen and os.environ.get("BASELINE") != "write" else 0


def _where(folder: Path, missing: list[str]) -> str:
    if missing:
        return f"{folder} has no set named {', '.join(missing)}."
    return (
        f"There are no sets in {folder}. EVALS=folder names another one; docs/evaluation.md says"
        " what a set looks like."
    )


def _run(
    folder: Path, names: list[str], known: dict[str, Measured]
) -> tuple[dict[str, Measured], list[Fall]]:
    sample = int(os.environ.get("SAMPLE") or DEFAULT_SAMPLE)
    results: dict[str, Measured] = {}
    fallen: list[Fall] = []
    with crew() as pool:
        for name in names:
            began = time.monotonic()
            order = Order(folder, name, sample)
            make_corpora(order, _progress(name))
            read = order.read()
            measured = Measured(
                read.questions_digest, slices_of(ask_set(order, pool), read.main_way)
            )
            fell = baseline.falls({name: measured}, known)
            print(*table(name, measured, known.get(name), fell), sep="\n")
            print(f"  asked in {time.monotonic() - began:.0f} s\n", flush=True)
            results[name] = measured
            fallen += fell
    return results, fallen


def _progress(name: str):
    def say(done: int, of: int) -> None:
        end = "\n" if done == of else "\r"
        print(f"{name}: {done} of {of} documents indexed", end=end, file=sys.stderr, flush=True)

    return say


def _write(results: dict[str, Measured]) -> None:
    out = os.environ.get("OUT")
    if out:
        Path(out).write_text(json.dumps(as_json(results), indent=1) + "\n", "utf-8")
    if not fusion() and _baseline_file() == baseline.PATH:
        keep(results)
    if os.environ.get("BASELINE") != "write" or fusion():
        return
    baseline.write(results, _baseline_file())
    if _baseline_file() == baseline.PATH:
        PICTURE.write_text(picture(baseline.stored()), "utf-8")
        targets.main()


def _baseline_file() -> Path:
    return Path(os.environ.get("BASELINE_FILE") or baseline.PATH)


if __name__ == "__main__":
    sys.exit(main())
