"""How large, deep and slow what is brought in may be."""

from __future__ import annotations

from typing import Final

MEBIBYTE: Final = 1024 * 1024

LARGEST_FILE: Final = 100 * MEBIBYTE
LARGEST_TEXT_FILE: Final = 20 * MEBIBYTE
LONGEST_LINE: Final = 10 * MEBIBYTE
LONGEST_BODY: Final = 5_000_000
LONGEST_TITLE: Final = 400
LONGEST_EXTERNAL_ID: Final = 400
LONGEST_URL: Final = 2_000
LARGEST_METADATA: Final = 64 * 1024

ARCHIVE_ENTRIES: Final = 2_000
ARCHIVE_TOTAL: Final = 200 * MEBIBYTE
# A message in an archive with a document attached is two deep.
ARCHIVE_DEPTH: Final = 3
MOST_CELLS: Final = 500_000

# Of the child that reads: beside what it holds once its libraries are loaded.
READER_MEMORY: Final = 1_024 * MEBIBYTE
READER_CPU_SECONDS: Final = 120
READER_WALL_SECONDS: Final = 240
READER_FILES: Final = 64
