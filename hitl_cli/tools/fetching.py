"""One GET, to an address that was checked, within limits of size and time.

A host name is looked up once; every address it stands for must be a public one, and the connection goes to one of those
very addresses, so a name that changes its meaning between check and use (DNS rebinding) gains nothing. Nothing is
followed here: a redirect is an answer like any other.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import socket
import ssl
import zlib
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import quote, urlsplit

from hitl_cli.access import Opaque
from hitl_cli.accesses import host_of
from hitl_cli.records import Struct
from hitl_cli.tools.declare import Failed

BYTES = 5 * 2**20  # of a body, after unpacking
_PATIENCE = 15.0  # seconds without a byte
_PORTS = {"https": 443, "http": 80}
_TRANSLATED = ip_network("64:ff9b::/96")  # RFC 6052: the last 32 bits are an IPv4 address


class Address(Struct, frozen=True):
    """Where a URL leads. `host` as rules name it, with the port when it is not the scheme's own; `bare` without it."""

    url: str
    scheme: str
    host: str
    bare: str
    name: str  # as it is looked up: an IPv6 address without its brackets
    port: int
    target: str  # path and query as sent


class Answer(Struct, frozen=True):
    status: int
    reason: str
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    whole: bool  # False when the body went on beyond the limit


def parse(url: str) -> Address:
    """Raises Failed for what is not a plain http or https address."""
    host = host_of(url)
    if isinstance(host, Opaque):
        raise Failed(f"{host.reason}: {url}")
    parts = urlsplit(url)
    if host.scheme not in _PORTS:
        raise Failed(f"only https and http addresses are fetched, not {host.scheme or 'a bare name'}: {url}")
    if parts.username is not None:
        raise Failed(f"an address with a user name in it is not fetched: {url}")
    default = _PORTS[host.scheme]
    bare = host.host if parts.port in (None, default) else host.host.rpartition(":")[0]
    target = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~") + (
        f"?{quote(parts.query, safe='/%:@!$&()*+,;=~?')}" if parts.query else ""
    )
    return Address(url, host.scheme, host.host, bare, bare.strip("[]"), parts.port or default, target)


def is_public(address: str) -> bool:
    """Whether an IP address belongs to a host of the open internet, in whichever form it is wrapped."""
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if ip in _TRANSLATED:
            inner = IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return ip.is_global and not ip.is_multicast


async def get(address: Address, headers: Mapping[str, str], *, private: bool) -> Answer:
    """Raises Failed when there is no answer; cancelling it closes the connection. `private`: any address will do."""
    addresses = await _looked_up(address)
    refused = [a for a in addresses if not private and not is_public(a)]
    if refused:
        raise Failed(
            f"{address.name} is {refused[0]}, an address that is not public: it is fetched only under a rule that names "
            f"the host, such as WebFetch(domain:{address.host})"
        )
    exchange = _Exchange(address, addresses, headers)
    work = asyncio.ensure_future(asyncio.to_thread(exchange.run))
    try:
        return await asyncio.shield(work)
    except (OSError, http.client.HTTPException, zlib.error) as error:
        raise Failed(f"{address.host} could not be fetched: {_reason(error)}") from None
    except asyncio.CancelledError:
        exchange.abort()
        work.add_done_callback(lambda done: done.exception())  # the cut connection's error is nobody's
        raise


async def _looked_up(address: Address) -> list[str]:
    try:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(address.name, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Failed(f"{address.name} was not found: {_reason(error)}") from None
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not valid ({error.verify_message})"
    if isinstance(error, TimeoutError):
        return f"no answer within {_PATIENCE:g} s"
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


class _Exchange:
    """The blocking part, run in a thread; `abort` ends it from outside."""

    def __init__(self, address: Address, addresses: list[str], headers: Mapping[str, str]) -> None:
        self.address, self.addresses, self.headers = address, addresses, headers
        self._socket: socket.socket | None = None
        self._aborted = False

    def run(self) -> Answer:
        connection = http.client.HTTPConnection(self.address.name, self.address.port)
        connection.sock = self._connected()
        try:
            connection.request("GET", self.address.target, headers={"Connection": "close", **self.headers})
            response = connection.getresponse()
            body, whole = _body(response)
            names = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, response.reason, names, body, whole)
        finally:
            connection.close()

    def _connected(self) -> socket.socket:
        problem: OSError | None = None
        for ip in self.addresses:
            try:
                self._keep(socket.create_connection((ip, self.address.port), _PATIENCE))
                if self.address.scheme == "https":
                    assert self._socket is not None
                    context = ssl.create_default_context()
                    self._keep(context.wrap_socket(self._socket, server_hostname=self.address.name))
                assert self._socket is not None
                return self._socket
            except OSError as error:
                problem = error
                if self._socket:
                    self._socket.close()
        raise problem or OSError("it has no address")

    def _keep(self, made: socket.socket) -> None:
        self._socket = made
        if self._aborted:
            made.close()
            raise OSError("stopped")

    def abort(self) -> None:
        self._aborted = True
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


def _body(response: http.client.HTTPResponse) -> tuple[bytes, bool]:
    """The unpacked body up to `BYTES`, however large it would unpack to."""
    packed = response.getheader("Content-Encoding", "identity").strip().lower()
    if packed not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise OSError(f"its content comes as {packed}, which was not asked for")
    unpack = zlib.decompressobj(wbits=47) if "identity" not in packed and packed else None  # 47: gzip or zlib
    body = bytearray()
    while len(body) <= BYTES and (data := response.read(65536)):
        body += unpack.decompress(data, BYTES + 1 - len(body)) if unpack else data
    if len(body) <= BYTES and response.length:
        raise OSError("the connection ended before all of it had come")
    return bytes(body[:BYTES]), len(body) <= BYTES
