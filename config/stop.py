"""`make stop`: stop the embedded servers of this checkout, whoever uses them."""

from __future__ import annotations

from config.embedded import stop

if __name__ == "__main__":
    stop("run")
    stop("test")
