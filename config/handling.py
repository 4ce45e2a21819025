"""Django's own way in, for headers that Django would rather not read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.handlers.wsgi import WSGIHandler, WSGIRequest


class Request(WSGIRequest):
    """A request of any caller: one that names its body's kind in no known way names none."""

    def _set_content_type_params(self, meta: Mapping[str, Any]) -> None:
        """Take the kind of the body out of the header.

        Django raises for a charset that it does not know, before there is anything that could answer.
        """
        try:
            super()._set_content_type_params(meta)  # type: ignore[misc]
        except ValueError:
            self.content_type, self.content_params = "", {}


class Application(WSGIHandler):
    """What the web server calls; needs `django.setup()`."""

    request_class = Request
