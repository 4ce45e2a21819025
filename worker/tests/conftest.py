import ipaddress
import socket

import pytest
from hypothesis import settings

settings.register_profile("worker", deadline=None, derandomize=True)
settings.load_profile("worker")


class NetworkDeniedError(AssertionError):
    pass


def _is_loopback(address):
    if not isinstance(address, tuple):
        return True
    host = address[0]
    if host in ("localhost", "", None):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True)
def _network_denied(monkeypatch):
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def guarded(original):
        def call(self, address):
            if not _is_loopback(address):
                raise NetworkDeniedError(f"a test reached for {address}")
            return original(self, address)

        return call

    monkeypatch.setattr(socket.socket, "connect", guarded(connect))
    monkeypatch.setattr(socket.socket, "connect_ex", guarded(connect_ex))
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    for name in (
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
