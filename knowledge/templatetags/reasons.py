"""`{{ failure.reason|told }}`: a written reason in the reader's language."""

from __future__ import annotations

from django import template

from knowledge.admin_reasons import told

register = template.Library()
register.filter("told", told)
