"""How people sign in, with a second factor and against guessing."""

from __future__ import annotations

import time
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from django_otp.oath import TOTP
from django_otp.plugins.otp_totp.models import TOTPDevice

from tenants.models import User
from tenants.sign_in import GUESS_COSTS, GUESSES_AHEAD
from tests.staff import browser, person
from tests.world import tenant

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough word"
PAGE = "/admin/second-factor/"


@pytest.fixture
def ada():
    return person("ada", (tenant("acme").organization, "viewer"))


def sign_in(username="ada", password=PASSWORD, token="", address="10.0.0.1"):
    client = Client(REMOTE_ADDR=address)
    sent = {"username": username, "password": password, "token": token}
    return client, client.post("/admin/login/?next=/admin/", sent)


def is_in(answer):
    return answer.status_code == 302


def code_of(user, *, steps=0):
    device = TOTPDevice.objects.get(user=user)
    totp = TOTP(device.bin_key, device.step, device.t0, device.digits)
    totp.time = time.time() + steps * device.step
    return f"{totp.token():06}"


def with_device(user):
    """Set one up on the page; return the browser that did it."""
    client = browser(user)
    client.get(PAGE)
    client.post(PAGE, {"code": code_of(user)})
    user.refresh_from_db()
    assert user.has_second_factor
    # A code is taken once; the tests after this one are not to wait for the next.
    TOTPDevice.objects.update(last_t=-1)
    return client


def test_without_a_second_factor_name_and_password_are_enough(ada):
    assert is_in(sign_in()[1])


def test_the_page_shows_a_secret_to_type_and_to_read(ada):
    page = browser(ada).get(PAGE)
    text = page.content.decode()
    assert page.context["secret"] in text
    assert 'src="data:image/svg+xml' in text
    assert page.headers["Cache-Control"].startswith("max-age=0")


def test_a_wrong_code_sets_up_nothing(ada):
    client = browser(ada)
    client.get(PAGE)
    client.post(PAGE, {"code": "000000"})
    ada.refresh_from_db()
    assert not ada.has_second_factor


def test_with_a_second_factor_the_password_alone_opens_nothing(ada):
    with_device(ada)
    assert not is_in(sign_in()[1])
    assert is_in(sign_in(token=code_of(ada))[1])


def test_a_code_is_taken_once(ada):
    with_device(ada)
    code = code_of(ada)
    assert is_in(sign_in(token=code)[1])
    assert not is_in(sign_in(token=code)[1])


def test_a_refusal_does_not_say_which_of_them_was_wrong(ada):
    with_device(ada)
    texts = {
        tuple(sign_in(password=password, token=token)[1].context["form"].non_field_errors())
        for password, token in ((PASSWORD, "000000"), (PASSWORD, ""), ("wrong", "000000"))
    }
    assert len(texts) == 1


def test_sessions_from_before_the_second_factor_end(ada):
    before = browser(ada)
    setting_up = with_device(ada)
    assert before.get("/admin/").status_code == 302
    assert setting_up.get("/admin/").status_code == 200


def test_it_can_be_removed_with_a_code(ada):
    client = with_device(ada)
    client.post(PAGE, {"code": "000000"})
    assert User.objects.get(pk=ada.pk).has_second_factor
    TOTPDevice.objects.update(throttling_failure_count=0)
    client.post(PAGE, {"code": code_of(ada)})
    assert not User.objects.get(pk=ada.pk).has_second_factor
    assert is_in(sign_in()[1])


def test_a_lost_one_can_be_taken_away_by_an_operator(ada):
    with_device(ada)
    call_command("second_factor", "reset", "ada", stdout=StringIO())
    assert is_in(sign_in()[1])


def test_where_it_is_required_everything_else_waits_for_it(ada, settings):
    settings.SECOND_FACTOR_REQUIRED = True
    client = browser(ada)
    assert client.get("/admin/").headers["Location"] == PAGE
    assert client.get("/api/v1/items").status_code == 401
    assert client.get(PAGE).status_code == 200
    client = with_device(ada)
    assert client.get("/admin/").status_code == 200
    assert client.get("/api/v1/items").status_code == 200


def test_the_rows_of_devices_are_in_no_page_of_the_admin():
    root = browser(person("root", is_superuser=True))
    assert root.get("/admin/otp_totp/totpdevice/").status_code == 404


def guess(times):
    for number in range(times):
        sign_in(password="wrong", address=f"10.1.{number // 200}.{number % 200}")


def test_slow_guessing_from_everywhere_is_held_up_by_name(ada):
    guess(20)
    assert not is_in(sign_in(address="10.9.9.9")[1])
    User.objects.update(guesses_until=timezone.now() + GUESSES_AHEAD - GUESS_COSTS)
    assert is_in(sign_in(address="10.9.9.8")[1])


def test_what_is_refused_for_that_does_not_count_again(ada):
    guess(20)
    before = User.objects.get(pk=ada.pk).guesses_until
    guess(5)
    assert User.objects.get(pk=ada.pk).guesses_until == before


def test_signing_in_forgives_what_was_mistyped(ada):
    guess(3)
    assert User.objects.filter(guesses_until__gt=timezone.now() + timedelta(minutes=8)).exists()
    assert is_in(sign_in(address="10.9.9.9")[1])
    assert User.objects.get(pk=ada.pk).guesses_until is None


def test_guessing_at_one_person_holds_up_nobody_else(ada):
    person("grace", (tenant("globex").organization, "viewer"))
    guess(20)
    assert is_in(sign_in(username="grace", address="10.9.9.9")[1])


def test_five_wrong_passwords_from_one_address_are_enough(ada):
    for _ in range(5):
        sign_in(password="wrong")
    assert sign_in()[1].status_code == 429
    assert is_in(sign_in(address="10.0.0.2")[1])
