"""How numbers, days and instants are written in Arabic: alike in every language, as a log has them."""

from __future__ import annotations

# The mark in front keeps a date from being read from the right after an Arabic letter.
DATE_FORMAT = SHORT_DATE_FORMAT = "\u200eY-m-d"
DATETIME_FORMAT = "\u200eY-m-d H:i"
# Django shows it nowhere by itself: our pages use it where the second counts.
SHORT_DATETIME_FORMAT = "\u200eY-m-d H:i:s"
TIME_FORMAT = "H:i"
YEAR_MONTH_FORMAT = "Y-m"
MONTH_DAY_FORMAT = "m-d"
FIRST_DAY_OF_WEEK = 1
DECIMAL_SEPARATOR = "."
THOUSAND_SEPARATOR = ","
NUMBER_GROUPING = 3
