"""WebFetch against real servers on this machine, plain and TLS, well-behaved and not."""

from __future__ import annotations

import asyncio
import gzip
import shutil
import socket
import ssl
import subprocess
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest

from hitl_cli.journal import Result
from hitl_cli.tools import fetching, web_fetch
from hitl_cli.tools.page import text_of

PAGE = """<!doctype html><html><head><title>The  page</title><style>p{}</style><script>alert("<p>no</p>")</script></head>
<body><nav><a href=/menu>menu</a></nav><h1>Head</h1><p>One <b>two</b> &amp; <a href="/there?x=1">a link</a>.
<ul><li>first<li>second</ul><pre>  kept
    as is</pre><table><tr><td>a<td>b</table><img alt="a cat"></body></html>"""
TEXT = """The page

# Head

One two & [a link](http://HERE/there?x=1).

- first
- second

```
  kept
    as is
```

| a | b

[image: a cat]"""


class Pages(BaseHTTPRequestHandler):
    """Answers by path."""

    def do_GET(self) -> None:
        name = self.path.strip("/").split("?")[0] or "page"
        getattr(self, name, self.page)()

    def send(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for key, value in {"Content-Type": "text/html; charset=utf-8", **headers}.items():
            self.send_header(key.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def page(self) -> None:
        self.send(PAGE.encode())

    def json(self) -> None:
        self.send(b'{"a": 1}', Content_Type="application/json")

    def latin(self) -> None:
        self.send("<meta charset=latin-1><p>café".encode("latin-1"), Content_Type="text/html")

    def packed(self) -> None:
        self.send(gzip.compress(b"<p>packed"), Content_Encoding="gzip")

    def bomb(self) -> None:
        self.send(gzip.compress(b"a" * 200_000_000, 9), Content_Type="text/plain", Content_Encoding="gzip")

    def big(self) -> None:
        self.send(b"x" * 6_000_000, Content_Type="text/plain")

    def image(self) -> None:
        self.send(b"\x89PNG....", Content_Type="image/png")

    def gone(self) -> None:
        self.send(b"<p>no such thing", 404)

    def here(self) -> None:
        self.send(b"", 302, Location="/json")

    def away(self) -> None:
        self.send(b"", 301, Location="https://elsewhere.example/x#part")

    def other_port(self) -> None:
        self.send(b"", 301, Location="http://127.0.0.1:1/x")

    def circle(self) -> None:
        self.send(b"", 302, Location="/circle")

    def echo(self) -> None:
        self.send(f"{self.headers['Host']} {self.path}".encode(), Content_Type="text/plain")

    def slow(self) -> None:
        self.server.asked.set()  # type: ignore[attr-defined]
        self.server.release.wait(20)  # type: ignore[attr-defined]

    def cut(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"only this")

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(context: ssl.SSLContext | None = None):
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        server.daemon_threads = True
        server.asked, server.release = Event(), Event()  # type: ignore[attr-defined]
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.release.set()  # type: ignore[attr-defined]
        server.shutdown()


@pytest.fixture
def server():
    with serving() as server:
        yield server


@pytest.fixture
def web(new_session):
    return new_session(private_host=lambda host: host.startswith(("127.0.0.1", "localhost")))


def url(server, name: str = "", host: str = "127.0.0.1") -> str:
    return f"http://{host}:{server.server_port}/{name}"


def test_a_page_comes_as_text(web, server):
    result = web.run("WebFetch", url=url(server))
    assert result == Result(
        TEXT.replace("HERE", f"127.0.0.1:{server.server_port}"), data={"status": 200, "url": url(server)}
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("json", '{"a": 1}'),
        ("latin", "café"),
        ("packed", "packed"),
        ("here", '{"a": 1}'),
        ("image", "(image/png, 8 bytes: not text)"),
    ],
)
def test_other_answers_come_as_what_they_are(web, server, name, text):
    assert web.text("WebFetch", url=url(server, name)) == text


def test_the_request_names_the_host_and_keeps_the_query(web, server):
    assert web.text("WebFetch", url=url(server, "echo?q=a%20b&c=ü", "localhost")) == (
        f"localhost:{server.server_port} /echo?q=a%20b&c=%C3%BC"
    )


def test_an_error_of_the_server_is_an_error_result_with_its_words(web, server):
    assert web.run("WebFetch", url=url(server, "gone")) == Result(
        "no such thing\n(the server answered 404 Not Found)",
        ok=False,
        kind="error",
        data={"status": 404, "url": url(server, "gone")},
    )


@pytest.mark.parametrize(
    ("name", "there"), [("away", "https://elsewhere.example/x"), ("other_port", "http://127.0.0.1:1/x")]
)
def test_a_redirect_to_another_host_is_returned_and_not_followed(web, server, name, there):
    assert web.run("WebFetch", url=url(server, name)) == Result(
        f"{url(server, name)} redirects to {there}, another host: fetch that address to go on",
        data={"status": 301, "redirect": there},
    )


def test_a_rule_that_names_the_host_alone_is_enough(new_session, server):
    named = new_session(private_host=lambda host: host == "127.0.0.1")
    assert named.text("WebFetch", url=url(server, "json")) == '{"a": 1}'


def test_redirects_end(web, server):
    assert web.text("WebFetch", url=url(server, "circle")) == f"more than 5 redirects: {url(server, 'circle')}"


@pytest.mark.parametrize("name", ["big", "bomb"])
def test_a_large_body_is_cut_and_the_text_kept_on_disk(web, server, name):
    result = web.run("WebFetch", url=url(server, name))
    kept = web.outputs / "2f9c" / "1.1.1.txt"
    assert result.content.endswith("\n(only the first 5,242,880 bytes were read)")
    assert f"[... {5_242_880 - 30_000:,} characters left out; the whole is in {kept} ...]" in result.content
    assert kept.stat().st_size == 5_242_880


def test_a_cut_connection_is_an_error_result(web, server):
    text = web.text("WebFetch", url=url(server, "cut"))
    assert (
        text == f"127.0.0.1:{server.server_port} could not be fetched: the connection ended before all of it had come"
    )


def test_a_server_that_never_answers_is_given_up(web, server, monkeypatch):
    monkeypatch.setattr(web_fetch, "TIME", 0.3)
    assert web.text("WebFetch", url=url(server, "slow")) == f"no whole answer within 0.3 s: {url(server, 'slow')}"


def test_a_fetch_can_be_cancelled(web, server):
    async def story() -> None:
        call = asyncio.ensure_future(web.arun("WebFetch", url=url(server, "slow")))
        await asyncio.to_thread(server.asked.wait, 20)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(story())  # would wait for the thread that fetches if that went on


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"]
)
def test_addresses_of_this_machine_are_refused_however_written(session, server, host):
    result = session.run("WebFetch", url=f"http://{host}:{server.server_port}/")
    assert not result.ok
    assert "an address that is not public: it is fetched only under a rule" in result.content


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("10.0.0.1", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("224.0.0.1", False),
        ("fe80::1%eth0", False),
        ("fc00::1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
    ],
)
def test_which_addresses_are_public(address, public):
    assert fetching.is_public(address) is public


def test_a_name_that_stands_for_a_private_address_too_is_refused(session, monkeypatch):
    """The resolver is the one thing replaced: no name on this machine has both kinds of address."""

    async def both(self, *_: object, **__: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, 1, 6, "", (ip, 443)) for ip in ("93.184.216.34", "10.0.0.1")]

    monkeypatch.setattr(asyncio.SelectorEventLoop, "getaddrinfo", both)
    assert session.text("WebFetch", url="https://two-faced.example/").startswith("two-faced.example is 10.0.0.1, an")


def test_the_connection_goes_to_the_address_that_was_checked(web, server, monkeypatch):
    """A name that means another address at every look-up is looked up once."""
    looked_up = []
    real = asyncio.SelectorEventLoop.getaddrinfo

    async def once(self, host: str, port: int, **options: object) -> object:
        looked_up.append(host)
        assert len(looked_up) == 1
        return await real(self, "127.0.0.1", port, **options)

    monkeypatch.setattr(asyncio.SelectorEventLoop, "getaddrinfo", once)
    text = web.text("WebFetch", url=f"http://localhost.rebinding.invalid:{server.server_port}/echo")
    assert text == f"localhost.rebinding.invalid:{server.server_port} /echo"


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("ftp://example.org/", "only https and http addresses are fetched, not ftp"),
        ("example.org", "the address names no plain host"),
        ("https://user:secret@example.org/", "an address with a user name in it is not fetched"),
        ("https://exa mple.org/", "the address holds a blank, a backslash or a control character"),
        ("https://no-such-host.invalid/", "no-such-host.invalid was not found"),
    ],
)
def test_what_is_no_plain_address_is_an_error_result(session, address, problem):
    result = session.run("WebFetch", url=address)
    assert not result.ok
    assert result.content.startswith(problem)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl, which makes the certificate, is not installed")
def test_https_checks_the_certificate_against_the_name(web, tmp_path, monkeypatch):
    subprocess.run(
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost "
        "-keyout key.pem -out cert.pem",
        shell=True,
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    with serving(context) as server:
        address = f"https://localhost:{server.server_port}/json"
        assert "its certificate is not valid" in web.text("WebFetch", url=address)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        assert web.text("WebFetch", url=address) == '{"a": 1}'
        assert "its certificate is not valid" in web.text("WebFetch", url=address.replace("localhost", "127.0.0.1"))


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("", ""),
        ("plain", "plain"),
        ("<title>T</title><h1>T</h1>x", "# T\n\nx"),
        ("<p>a<p>b<br>c", "a\n\nb\nc"),
        ("<svg><text>no</text></svg>yes", "yes"),
        ("<script>no", ""),
        ("use <code>x  y</code>", "use `x y`"),
        ('<a href="#top">up</a> <a href="javascript:x()">js</a> <a href="b">b</a>', "up js [b](https://h/b)"),
    ],
)
def test_pages_as_text(page, text):
    assert text_of(page, "https://h/a") == text
