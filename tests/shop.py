"""A shop of a few articles, embedded by the model that ships: for what only a real search shows."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from knowledge.calibration.fitting import fit
from knowledge.embedding.selection import current_embedder
from knowledge.embedding.spaces import active_space
from knowledge.indexing.converge import Workshop, budget, converge_batch
from knowledge.indexing.draining import due_assets
from tenants.models import Organization
from tests.world import Tenant, tenant

ARTICLES = {
    "Terminal PPR-9087": "The card terminal PPR-9087 prints a receipt when you hold the green key.",
    "Terminal PPR-9088": "The card terminal PPR-9088 has no printer and sends receipts by mail.",
    "O'Brien's locker": "Keys to O'Brien's locker are kept at the front desk.",
    "Café réservé": "The café réservé on the terrace serves members only.",
    "WiFi password": "The WiFi password of the reading room is on the back of your card.",
    "استرجاع المبلغ": "يعاد المبلغ إلى البطاقة خلال خمسة أيام بعد إلغاء الطلب في مكتب الاسترجاع.",
    "رمز الخزانة 4417": "رمز الخزانة 4417 يفتح باب المخزن الخلفي.",
    "می‌خواهم عضو شوم": "برای عضویت در کتابخانه کارت شناسایی خود را بیاورید؛ عضویت می‌تواند رایگان باشد.",
    "Lost umbrellas": "Umbrellas that were left behind wait in the basket beside the lift.",
    "猫の受付": "猫は受付の横の部屋で待つことができます。",
}


def shop(slug: str = "shop") -> Tenant:
    """Return an organization with ARTICLES, indexed and calibrated."""
    opened = tenant(slug)
    for title, body in ARTICLES.items():
        opened.item(title, body)
    index(opened.organization)
    return opened


def index(organization: Organization) -> None:
    """Index what is due, and calibrate on it."""
    later = timezone.now() + timedelta(seconds=1)
    workshop = Workshop(current_embedder(), timezone.now, budget())
    for organization_id, assets in due_assets(at=later, most=100).items():
        converge_batch(organization_id, assets, workshop)
    space = active_space()
    assert space is not None
    fit(organization.pk, space, current_embedder(), at=later)
