"""Programs that reach other machines.

Sources: curl(1), wget(1), nc(1), nmap(1), openssl(1), gpg(1), GTFOBins.
"""

from __future__ import annotations

import posixpath
import re
from urllib.parse import urlsplit

from hitl_cli.access import Unknown
from hitl_cli.regex import later
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows

_RUNS = "runs another program"
_SLASHES = later(r"\A(https?|ftp):/+", re.IGNORECASE)
_PATTERN = later(r"(?:\w+:/*)?[^/?#]*(?:\{|\[(?![0-9a-fA-F:.%]+\]))")  # in the host of an address


def _name_of(url: str) -> str:
    """The file name a download of `url` gets."""
    return posixpath.basename(urlsplit(url if "://" in url else f"http://{url}").path) or "index.html"


def _at_file(reading: Reading, *names: str) -> None:
    """Values of the form @FILE (or part=@FILE) send a file."""
    for _, value in reading.values(*names):
        text = value.prefix if isinstance(value, Unknown) else value
        for mark in ("=@", "=<"):
            if mark in text and "-F" in names:
                text = "@" + text.partition(mark)[2].partition(";")[0]
        if "--data-urlencode" in names and "=" not in text.partition("@")[0]:
            text = text[text.find("@") :] if "@" in text else text
        if text.startswith("@"):
            name = text[1:]
            if name != "-":
                reading.reads.append(name if not isinstance(value, Unknown) else value)


def _curl(reading: Reading) -> None:
    _at_file(reading, "-d", "--data-binary", "--data-urlencode", "--json")
    _at_file(reading, "-F")
    _at_file(reading, "-H")
    for given in reading.given:
        if given.name.startswith("--expand-"):
            reading.act(given.at, "is filled in only when it runs")
    for _, value in reading.values("--variable", "--url-query", "--url"):
        text = value.prefix if isinstance(value, Unknown) else value
        if "@" in text and "://" not in text:
            reading.reads.append(text.partition("@")[2])
    urls = [*reading.operands, *(word for _, word in reading.values("--url"))]
    for word in urls:
        if not isinstance(word, str):
            continue
        reading.urls.append(_SLASHES.sub(r"\1://", word))
        if _PATTERN.match(word) and not reading.has("-g"):
            reading.act(reading.words.index(word) if word in reading.words else 1, "names its host by a pattern")
        if word.lower().startswith("file:"):
            reading.reads.append(urlsplit(word).path)
    for given in reading.given:
        if given.name in ("-O", "--remote-name-all"):
            reading.act(given.at, "writes a file")
            for word in urls:
                reading.write(_name_of(word) if isinstance(word, str) else word, given.at)
        elif given.name == "-b" and isinstance(given.value, str) and "=" not in given.value and given.value:
            reading.reads.append(given.value)
        elif given.name == "-w" and isinstance(given.value, str):
            if given.value.startswith("@"):
                reading.reads.append(given.value[1:])
            if "%output{" in given.value:
                reading.act(given.at, "writes a file")
                reading.write(Unknown("%output{…}"), given.at)


def _wget(reading: Reading) -> None:
    """A page is saved under the name of its address, below -P, unless -O says where."""
    for given in reading.given:
        if given.name == "-e":
            reading.act(given.at, "gives a line of configuration, which can name programs")
    folder = next((value for _, value in reading.values("-P")), None)
    for word in reading.operands:
        if isinstance(word, str):
            reading.urls.append(word)
            if not reading.keeps_to("-O", "--spider"):
                name = _name_of(word)
                reading.write(posixpath.join(folder, name) if isinstance(folder, str) else name)
                if reading.has("-r", "-m", "-p"):
                    reading.brings(folder or "")


PROGRAMS: dict[str, Row] = {
    "curl": Row(
        "curl(1)",
        """
        -K --config = loads configuration from a file
        -o --output = write
        -O --remote-name
        --remote-name-all
        --output-dir = make
        -J --remote-header-name
        -c --cookie-jar = write
        -D --dump-header = write
        --trace = write
        --trace-ascii = write
        --stderr = write
        --etag-save = write
        --hsts --alt-svc = write
        --libcurl = write
        --egd-file --random-file =
        -T --upload-file = read
        --etag-compare = read
        -E --cert = read
        --key --knownhosts = read
        --ssl-sessions = write
        --cacert --capath --proxy-cacert --crlfile --netrc-file = read
        -n --netrc --netrc-optional sends stored passwords
        --engine = loads a library
        --unix-socket --abstract-unix-socket = speaks to a local socket
        -d --data --data-ascii --data-raw =
        --data-binary =
        --data-urlencode =
        --json =
        -F --form =
        --form-string =
        --url =
        -b --cookie =
        -w --write-out =
        -H --header --proxy-header =
        -A --user-agent -e --referer -m --max-time -r --range -u --user -U --proxy-user -X --request =
        -C --continue-at -P --ftp-port -Q --quote -t --telnet-option -y --speed-time -Y --speed-limit -z --time-cond =
        -x --proxy --preproxy --socks4 --socks4a --socks5 --socks5-hostname --proxy1.0 --doh-url = url
        --connect-to --resolve = asks another host than the address names
        --noproxy =
        --retry --retry-delay --retry-max-time --connect-timeout --max-redirs --max-filesize --limit-rate --rate =
        --interface --dns-servers --dns-interface --ciphers --tls-max --tls13-ciphers --curves --pass =
        --cert-type --key-type --proto --proto-default --proto-redir --keepalive-time --local-port --parallel-max =
        --aws-sigv4 --oauth2-bearer --service-name --sasl-authzid --delegation --login-options --mail-from --mail-rcpt =
        --mail-auth --expect100-timeout --happy-eyeballs-timeout-ms --url-query --variable --request-target --pubkey =
        --hostpubmd5 --hostpubsha256 --pinnedpubkey --krb --tftp-blksize --socks5-gssapi-service --create-file-mode =
        --trace-config --ip-tos --vlan-priority --haproxy-clientip --ipfs-gateway --ech --keepalive-cnt =
        --proxy-user --proxy-pass --proxy-key --proxy-cert --proxy-ciphers --tlsuser --tlspassword --tlsauthtype =
        -s --silent
        -S --show-error
        -L --location
        -I --head
        -G --get
        -f --fail
        -k --insecure
        """,
        abbreviates=True,
        then=_curl,
    ),
    "wget": Row(
        "GNU wget manual",
        f"""
        --use-askpass = {_RUNS}
        -O --output-document = write
        -o --output-file -a --append-output = write
        -P --directory-prefix = write
        --save-cookies --warc-file --warc-cdx --rejected-log --hsts-file = write
        --config = loads configuration from a file
        -e --execute =
        -i --input-file --load-cookies --post-file --body-file --certificate --private-key --ca-certificate = read
        --ca-directory --crl-file --warc-dedup = read
        -t --tries -T --timeout -w --wait -Q --quota -U --user-agent -l --level -A --accept -R --reject -D --domains =
        -I --include-directories -X --exclude-directories -B --base --header --post-data --body-data --method =
        --referer --user --password --limit-rate --waitretry --read-timeout --connect-timeout --dns-timeout =
        --max-redirect --cut-dirs --default-page --local-encoding --remote-encoding --secure-protocol --progress =
        --prefer-family --accept-regex --reject-regex --regex-type --start-pos --bind-address --exclude-domains =
        --http-user --http-password --proxy-user --proxy-password --retry-on-http-error --restrict-file-names =
        --spider
        """,
        wary=True,
        then=_wget,
    ),
    **rows(
        "aria2c(1), yt-dlp(1), HTTPie manual",
        "aria2c yt-dlp youtube-dl http https httpie",
        f"""
        --exec --on-download-complete --on-download-start --on-download-error --downloader --external-downloader = {_RUNS}
        --exec-before-download --netrc-cmd --on-bt-download-complete = {_RUNS}
        --config-locations --config-location --conf-path --plugin-dirs = loads configuration from a file
        -o --output -O -P --paths -d --dir = write
        """,
        abbreviates=False,
        operands="url",
    ),
    **rows(
        "nc(1), ncat(1)",
        "nc ncat netcat",
        f"""
        -e --exec -c --sh-exec = {_RUNS}
        --lua-exec = {_RUNS}
        -o --output -x --hex-dump = write
        -p -w -s -i -q -X -I -O -P -T -V -m --idle-timeout --wait --proxy --proxy-auth =
        """,
        operands="url",
    ),
    "socat": Row("socat(1)", wary=True, operands="can run another program or write a file"),
    "telnet": Row("telnet(1)", "-n = write\n-b -e -k -l -X =", operands="url"),
    "ftp": Row("ftp(1)", wary=True, operands="takes commands, also such as start a shell, from its input"),
    **rows("nmap(1)", "nmap", "--script -sC --datadir = runs a script\n-iL = read\n-oN -oX -oG -oA -oS = write\n-p ="),
    **rows("tcpdump(8)", "tcpdump", f"-z = {_RUNS}\n-w = write\n-r -F = read\n-i -c -C -G -s -E -W -Z -B ="),
    **rows(
        "ping(8), dig(1), host(1)",
        "ping ping6 traceroute host nslookup whois",
        "-c -i -s -t -w -W -I =",
        operands="url",
    ),
    "dig": Row("dig(1)", "-f = read\n-k = read\n-b -c -p -q -t -x -y =", operands="url"),
    "openssl": Row(
        "openssl(1)",
        """
        -engine = loads a library
        -provider -provider-path = loads a library
        -config = loads configuration from a file
        -out -keyout -CAserial -writerand -CRLfile = write
        -in -key -cert -CAfile -CA -CAkey -inkey -certfile = read
        -connect = url
        -servername -days -subj -newkey -passin -passout -pass -name -rand -md -sigopt -extensions =
        """,
        single=True,
        abbreviates=False,
    ),
    "gpg": Row(
        "gpg(1)",
        """
        --agent-program --dirmngr-program --gpg-program --photo-viewer --exec-path = runs another program
        --options --homedir = loads configuration from elsewhere
        -o --output --logger-file --attribute-file --status-file = write
        --keyserver = url
        -u --local-user -r --recipient --keyring =
        """,
    ),
    "age": Row(
        "age(1)", "-o --output = make\n-i --identity -R --recipients-file = read\n-r --recipient =", operands="read"
    ),
}
