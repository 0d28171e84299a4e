"""ssh and its family: a line of configuration can run a program, another file of it as well.

Sources: ssh(1), ssh_config(5), scp(1), sftp(1), ssh-keygen(1), ssh-add(1).
"""

from __future__ import annotations

from hitl_cli.access import Unknown, Word
from hitl_cli.shell.programs.files import is_remote
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows, word_set

_RUNS = "runs another program"

# ssh_config(5) keys that neither run a program, load a library, open a port nor name another file.
_SSH_PLAIN = word_set(
    "batchmode connecttimeout connectionattempts serveraliveinterval serveralivecountmax stricthostkeychecking port user "
    "loglevel compression addressfamily identitiesonly passwordauthentication pubkeyauthentication requesttty "
    "tcpkeepalive numberofpasswordprompts preferredauthentications hostname checkhostip visualhostkey ciphers macs "
    "kexalgorithms hostkeyalgorithms escapechar exitonforwardfailure kbdinteractiveauthentication"
)


def _options_of_ssh(reading: Reading) -> None:
    for at, value in reading.values("-o"):
        key = (value.prefix if isinstance(value, Unknown) else value).replace("=", " ").split(" ")[0].lower()
        if key not in _SSH_PLAIN:
            reading.act(at, "gives a line of configuration, which can run a program")


def _asks(reading: Reading, hosts: list[Word]) -> None:
    reading.urls += [word if "://" in word else f"ssh://{word}" for word in hosts if isinstance(word, str)]


def _ssh(reading: Reading) -> None:
    """The words behind the host are joined and given to a shell there; without any it takes its input."""
    _options_of_ssh(reading)
    _asks(reading, reading.operands[:1])
    if behind := reading.operands[1:]:
        reading.starts.append(" ".join(word if isinstance(word, str) else word.text for word in behind))
    else:
        reading.starts.append(("sh",))


def _scp(reading: Reading) -> None:
    _options_of_ssh(reading)
    words = reading.operands
    for number, word in enumerate(words):
        if isinstance(word, str) and (is_remote(word) or word.startswith(("scp://", "sftp://"))):
            reading.urls.append(word if "://" in word else f"ssh://{word.partition(':')[0]}")
            continue
        if number and number == len(words) - 1:
            reading.write(word)
            for source in words[:-1] if reading.has("-r") else ():
                reading.brings(word, "" if isinstance(source, str) and ":" in source else source)
        else:
            reading.reads.append(word)
    reading.follows = reading.has("-r")


def _sftp(reading: Reading) -> None:
    _options_of_ssh(reading)
    _asks(reading, reading.operands[:1])
    if not reading.has("-b"):
        reading.opaque = "takes commands, also such as start a shell, from its input"


def _ssh_add(reading: Reading) -> None:
    reading.reads.extend(reading.operands)


_SSH = """
    -F = loads configuration from a file
    -E = write
    -I = loads a library
    -L -R -D -W -w = forwards ports or connections
    -S = uses another connection
    -O = controls another connection
    -i = list
    -J -B -b -c -e -l -m -p -Q -P =
    -o =
    -A -X -Y forwards keys or windows
"""
PROGRAMS: dict[str, Row] = {
    "ssh": Row("ssh(1)", _SSH, stops=2, wary=True, then=_ssh),
    **rows("rsh(1), dbclient(1)", "rsh dbclient", "-l -p -i -J =", stops=2, abbreviates=False, then=_ssh),
    "scp": Row(
        "scp(1)",
        f"""
        -S = {_RUNS}
        -D = {_RUNS}
        -F = loads configuration from a file
        -i = list
        -o -J -P -c -l -X =
        """,
        wary=True,
        then=_scp,
    ),
    "sftp": Row(
        "sftp(1)",
        f"""
        -S -D = {_RUNS}
        -s = {_RUNS}
        -F = loads configuration from a file
        -b = takes commands from a file
        -i = list
        -o -J -P -c -l -X -R -B =
        """,
        wary=True,
        then=_sftp,
    ),
    "ssh-keygen": Row(
        "ssh-keygen(1)",
        """
        -D = loads a library
        -w = loads a library
        -f = make
        -b -C -N -P -t -m -a -I -n -V -z -E -F -R -r -O -s -Y -M =
        """,
    ),
    "ssh-agent": Row("ssh-agent(1)", "-P = loads a library\n-a -E -t =", stops=1, operands="runs another program"),
    "ssh-add": Row("ssh-add(1)", "-s -S -e = loads a library\n-t -E -h -H -T =", then=_ssh_add),
    "ssh-keyscan": Row("ssh-keyscan(1)", "-f = read\n-p -T -t -O ="),
    **rows(
        "sshpass(1), autossh(1), mosh(1)",
        "sshpass autossh mosh",
        "--ssh ? runs another program",
        stops=1,
        operands="starts ssh",
    ),
}
