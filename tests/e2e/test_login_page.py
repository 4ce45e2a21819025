from __future__ import annotations

import pytest


@pytest.mark.django_db(transaction=True)
def test_the_login_page_breaks_no_rule_of_its_policy(live_server, page):
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(f"{live_server.url}/admin/")
    assert page.get_by_label("Username").is_visible()
    assert complaints == []
