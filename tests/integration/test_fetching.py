"""Reading pages: pinned to the address that was checked, over TLS to the right host, bounded."""

from __future__ import annotations

import http.server
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from knowledge.models import Source, SourceSchedule
from knowledge.sources import addresses, fetching, finding, sites
from knowledge.sources.errors import AddressRefused, PageUnavailable
from knowledge.sources.fetching import Fetcher
from knowledge.sources.reach import prefix_of
from knowledge.sources.scheduling import sync
from tests.site_server import site
from tests.world import AT, tenant

HOST = "help.example"
PUBLIC = "93.184.216.34"
REAL = socket.getaddrinfo


@pytest.fixture
def web():
    with site() as made:
        yield made


@pytest.fixture
def strict(settings, monkeypatch):
    """Private addresses are refused, but for this machine, which plays the public web."""
    settings.SOURCES_MAY_BE_PRIVATE = False
    real = addresses._is_public
    monkeypatch.setattr(addresses, "_is_public", lambda text: text == "127.0.0.1" or real(text))


class Names:
    """Answers look-ups one after the other, and counts them; the last one stays."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, host, port, *args, **kwargs):
        if host[0].isdigit():
            # No look-up: the client connects to the address that it was given.
            return REAL(host, port, *args, **kwargs)
        self.asked.append(host)
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return [(family(address), socket.SOCK_STREAM, 6, "", (address, port)) for address in found]


def family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ipaddress.ip_address(address).version == 6 else socket.AF_INET


def names(monkeypatch, *answers):
    made = Names(*answers)
    monkeypatch.setattr("knowledge.sources.addresses.socket.getaddrinfo", made)
    return made


def test_a_name_that_changes_its_meaning_after_the_check_is_not_followed(strict, web, monkeypatch):
    web.pages["/a"] = "<html>Here.</html>"
    looked = names(monkeypatch, ["127.0.0.1"], ["10.0.0.1"])
    with Fetcher() as fetcher:
        fetched = fetcher.get(f"http://{HOST}:{web.port}/a")
    assert (fetched.status, fetched.body) == (200, b"<html>Here.</html>")
    # Asked once, by the check: the connection went to what was checked, under the host's own name.
    assert looked.asked == [HOST]
    assert web.hosts == [f"{HOST}:{web.port}"]


def test_each_redirect_is_checked_anew(strict, web, monkeypatch):
    web.pages["/a"] = (302, f"http://{HOST}:{web.port}/b")
    looked = names(monkeypatch, ["127.0.0.1"], ["169.254.169.254"])
    with Fetcher() as fetcher, pytest.raises(AddressRefused):
        fetcher.get(f"http://{HOST}:{web.port}/a")
    assert looked.asked == [HOST, HOST]
    assert web.statuses("/b") == []


@pytest.mark.parametrize(
    "found",
    [[PUBLIC, "10.0.0.1"], ["10.0.0.1", PUBLIC], ["::1"], ["fe80::1"], ["::ffff:10.0.0.1"],
     ["2002:0a00:0001::"], ["64:ff9b::a00:1"], ["100.64.0.1"], ["224.0.0.1"], ["0.0.0.0"]],
)  # fmt: skip
def test_a_name_with_one_private_address_is_refused(strict, monkeypatch, found):
    names(monkeypatch, found)
    with Fetcher() as fetcher, pytest.raises(AddressRefused):
        fetcher.get(f"http://{HOST}/")


class Certificates:
    """An authority of this test, and what it signs."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.authority = self._signed("An authority", self.key, None)

    def _signed(self, name: str, key: ec.EllipticCurvePrivateKey, host: str | None):
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "An authority")])
        now = datetime.now(tz=UTC)
        built = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=host is None, path_length=None), critical=True)
        )
        if host:
            built = built.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), False)
        return built.sign(self.key, hashes.SHA256())

    def server(self, host: str, folder) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        path = folder / f"{host}.pem"
        path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + self._signed(host, key, host).public_bytes(serialization.Encoding.PEM)
        )  # fmt: skip
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context

    def client(self) -> ssl.SSLContext:
        pem = self.authority.public_bytes(serialization.Encoding.PEM).decode()
        return ssl.create_default_context(cadata=pem)


@contextmanager
def over_tls(context: ssl.SSLContext) -> Iterator[tuple[int, list[str | None]]]:
    """Serve one page over TLS; yield the port and the host names that were asked for in the handshake."""
    asked: list[str | None] = []
    context.sni_callback = lambda _socket, name, _context: asked.append(name)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"Here.")

        def log_message(self, *_args: object) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_args: object) -> None:
            pass

    server = Server(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1], asked
    server.shutdown()
    server.server_close()
    thread.join()


def refused(fetcher: Fetcher, port: int) -> None:
    with pytest.raises(PageUnavailable):
        fetcher.get(f"https://{HOST}:{port}/")


@pytest.fixture(scope="module")
def certificates():
    return Certificates()


def test_over_tls_the_certificate_is_the_hosts_although_the_address_is_pinned(
    strict, monkeypatch, certificates, tmp_path
):
    names(monkeypatch, ["127.0.0.1"])
    served, trusted = certificates.server(HOST, tmp_path), certificates.client()
    with over_tls(served) as (port, asked), Fetcher(verify=trusted) as fetcher:
        assert fetcher.get(f"https://{HOST}:{port}/").body == b"Here."
    assert asked == [HOST]


def test_the_certificate_of_another_host_is_refused(strict, monkeypatch, certificates, tmp_path):
    names(monkeypatch, ["127.0.0.1"])
    served, trusted = certificates.server("other.example", tmp_path), certificates.client()
    with over_tls(served) as (port, _), Fetcher(verify=trusted) as fetcher:
        refused(fetcher, port)


def test_a_certificate_that_nobody_vouches_for_is_refused(
    strict, monkeypatch, certificates, tmp_path
):
    names(monkeypatch, ["127.0.0.1"])
    with over_tls(certificates.server(HOST, tmp_path)) as (port, _), Fetcher() as fetcher:
        refused(fetcher, port)


def test_a_page_that_is_too_large_is_given_up(web, monkeypatch):
    monkeypatch.setattr(fetching, "LARGEST_PAGE", 1024 * 1024)
    web.pages["/a"] = "x" * (1024 * 1024 + 1)
    with Fetcher() as fetcher, pytest.raises(PageUnavailable, match="larger than 1 MiB"):
        fetcher.get(f"{web.address}/a")


@contextmanager
def dripping() -> Iterator[int]:
    """Answer with one byte after the other, for ever."""
    stop = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
            while not stop.wait(0.02):
                self.wfile.write(b"x")

        def log_message(self, *_args: object) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_args: object) -> None:
            pass

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1]
    stop.set()
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_page_that_drips_is_given_up_after_its_time(monkeypatch):
    monkeypatch.setattr(fetching, "PAGE_SECONDS", 0.5)
    with dripping() as port, Fetcher() as fetcher:
        began = time.monotonic()
        with pytest.raises(PageUnavailable, match="longer than"):
            fetcher.get(f"http://127.0.0.1:{port}/")
    assert time.monotonic() - began < 20


def arranged(web, **config) -> SourceSchedule:
    acme = tenant("acme")
    with acme.context():
        source = Source.objects.create(organization=acme.organization, slug="web", name="Web")
        return SourceSchedule.objects.create(
            organization=acme.organization, source=source, kind="site",
            config={"start": f"{web.address}/", **config}, next_run_at=AT,
        )  # fmt: skip


def looked(schedule):
    later = iter(range(100_000))
    return sync(
        schedule.organization_id, schedule.pk,
        clock=lambda: AT + timedelta(milliseconds=next(later)),
    )  # fmt: skip


def five_pages(web) -> None:
    for number in range(5):
        web.page(f"/p{number}", f"About {number}.", f"/p{number + 1}")
    web.page("/", "Welcome to our site.", "/p0")


@pytest.mark.django_db
def test_a_site_of_too_many_pages_is_read_in_part_and_loses_nothing(web, monkeypatch):
    monkeypatch.setattr(sites, "MOST_PAGES", 3)
    five_pages(web)
    found = looked(arranged(web, sitemap=False))
    assert (found.outcome, found.changes["created"]) == ("uncertain", 3)
    assert "nothing was deleted" in found.reason


@pytest.mark.django_db
def test_a_sitemap_lists_no_more_than_the_most_pages(web, monkeypatch):
    monkeypatch.setattr(finding, "MOST_PAGES", 3)
    five_pages(web)
    web.sitemap(*(f"/p{number}" for number in range(5)))
    with Fetcher() as fetcher:
        place = prefix_of(web.address)
        listed = finding.listed_pages(fetcher, f"{web.address}/sitemap.xml", place)
    assert (len(listed.pages), listed.is_whole) == (3, False)


@pytest.mark.django_db
def test_a_look_that_takes_too_long_ends_and_deletes_nothing(web, monkeypatch):
    five_pages(web)
    schedule = arranged(web, sitemap=False)
    looked(schedule)
    monkeypatch.setattr(sites, "LONGEST_RUN_S", -1.0)
    found = looked(schedule)
    assert (found.outcome, found.changes["pruned"]) == ("failed", 0)


@pytest.mark.django_db
@pytest.mark.parametrize(("said", "waited"), [("2", 2.0), ("600", 10.0), ("soon", 0.0)])
def test_the_pause_that_a_site_wants_between_pages_is_kept(web, monkeypatch, said, waited):
    five_pages(web)
    web.pages["/robots.txt"] = f"User-agent: *\nCrawl-delay: {said}\n"
    slept: list[float] = []
    clock = SimpleNamespace(sleep=slept.append, monotonic=time.monotonic)
    monkeypatch.setattr("knowledge.sources.sites.time", clock)
    looked(arranged(web, sitemap=False))
    # Five, the first one, and one that is not there.
    assert slept == [waited] * 7
