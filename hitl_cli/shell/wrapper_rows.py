"""One wrapper taken off, and the table of programs that run another command: their options without and with a value.

From the manuals of GNU coreutils 9, util-linux 2.39, findutils 4.9, sudo 1.9, OpenDoas 6.8, strace 6, expect 5.45.
"""

from __future__ import annotations

from hitl_cli.access import Word
from hitl_cli.records import Struct, field
from hitl_cli.shell.programs.table import word_set


class Layer(Struct):
    """One wrapper taken off.

    inner     the words of the command it runs, () when it runs a text
    at        where those begin in the words of the call
    text      a script it runs, None when it runs words
    stays     it needs a rule of its own beside that of what it runs (xargs, sudo, find)
    assigns   the variables it sets for the command
    folder    the folder it enters, None for the same
    anywhere  the command runs in a folder that is not known
    reads, writes   files of its own
    stdin     it runs what it reads on its standard input
    fresh     the environment of what it runs may be another
    """

    inner: tuple[Word, ...] = ()
    at: int = 0
    text: str | None = None
    stays: bool = False
    assigns: tuple[tuple[str, Word], ...] = ()
    folder: Word | None = None
    anywhere: bool = False
    reads: tuple[Word, ...] = ()
    writes: tuple[Word, ...] = ()
    stdin: bool = False
    fresh: bool = False
    more: list[Layer] = field(default_factory=list)  # further commands of the same call (find)


class Row(Struct, frozen=True):
    """Options as in getopt.

    flags, values       single letters, without and with a value
    long, long_values   long names, blank-separated
    operands            words that stand before the command
    assigns             `NAME=value` words may stand before the command
    stays               the wrapper needs a rule of its own
    writes, reads       options whose value is a file
    folder              options whose value is the folder the command runs in
    refused             single letters of forms that run no command given here
    """

    flags: str = ""
    values: str = ""
    long: frozenset[str] = frozenset()
    long_values: frozenset[str] = frozenset()
    operands: int = 0
    assigns: bool = False
    stays: bool = False
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    folder: tuple[str, ...] = ()
    refused: str = ""


ROWS: dict[str, Row] = {
    "timeout": Row(
        "fpv", "ks", word_set("foreground preserve-status verbose"), word_set("kill-after signal"), operands=1
    ),
    "nice": Row("", "n", long_values=word_set("adjustment")),
    "nohup": Row(),
    "ionice": Row("t", "cn", word_set("ignore"), word_set("class classdata")),
    "chrt": Row("bdfiorRv", "TPD", word_set("batch deadline fifo idle other rr reset-on-fork verbose"), operands=1),
    "taskset": Row("ac", "", word_set("all-tasks cpu-list"), operands=1),
    "stdbuf": Row("", "ioe", long_values=word_set("input output error")),
    "choom": Row("", "n", long_values=word_set("adjust")),
    "chronic": Row("ve"),
    "ifne": Row("n"),
    "systemd-inhibit": Row("", "", word_set("no-pager no-legend no-ask-password"), word_set("what who why mode")),
    "setsid": Row("cfw", "", word_set("ctty fork wait")),
    "time": Row(
        "apqv",
        "fo",
        word_set("append portability quiet verbose"),
        word_set("format output"),
        writes=("o", "output"),
    ),
    "command": Row("p"),
    "builtin": Row(),
    "exec": Row("cl", "a"),
    "env": Row(
        "i0v",
        "uCaS",
        word_set("ignore-environment null debug"),
        word_set("unset chdir argv0 split-string"),
        assigns=True,
        folder=("C", "chdir"),
    ),
    "sudo": Row(
        "ABbEHkNnPS",
        "CDghpRrTtUu",
        word_set("askpass background set-home reset-timestamp non-interactive stdin preserve-groups"),
        word_set("close-from chdir group host prompt role type command-timeout other-user user"),
        assigns=True,
        stays=True,
        folder=("D", "chdir"),
    ),
    "doas": Row("n", "u", stays=True),
    "pkexec": Row("", "", word_set("disable-internal-agent keep-cwd"), word_set("user"), stays=True),
    "xargs": Row(
        "0rtpxo",
        "adEILnPs",
        word_set("null no-run-if-empty verbose interactive exit open-tty"),
        # Not process-slot-var: it may name PATH, and what runs then is looked for in folders called 0, 1, …
        word_set("arg-file delimiter max-args max-procs max-chars"),
        stays=True,
        reads=("a", "arg-file"),
    ),
    "busybox": Row(stays=True),
    "toybox": Row(stays=True),
    "strace": Row(
        "cCdDfFhiknqrtTvVwxyYzZ", "abeEIOoPsSuUX", word_set("follow-forks"), stays=True, writes=("o",), refused="p"
    ),
    "flock": Row(
        "seunoFvxc",
        "wE",
        word_set("shared exclusive nonblock no-fork verbose close"),
        word_set("timeout wait conflict-exit-code"),
        operands=1,
        stays=True,
    ),
    "unbuffer": Row("p"),
    "caffeinate": Row("disu", "t"),
    "xvfb-run": Row("a", "n", word_set("auto-servernum"), word_set("server-num"), stays=True),
    "watch": Row(
        "bcegtpx",
        "n",
        word_set("beep color errexit chgexit no-title precise exec"),
        word_set("interval"),
        stays=True,
    ),
}
ALIASES = {f"g{name}": name for name in ("timeout", "nice", "nohup", "stdbuf", "env", "xargs", "time")}

# Programs that run another command in ways that are not followed: only a rule that spells its words covers it.
UNFOLLOWED = word_set(
    "parallel sem unshare nsenter chroot runuser setpriv sg su newgrp ltrace perf firejail bwrap entr script fakeroot "
    "proot rlwrap dbus-run-session start-stop-daemon setarch linux32 linux64 numactl cgexec prlimit catchsegv valgrind "
    "tsocks proxychains proxychains4 torsocks torify daemonize chpst softlimit screen capsh systemd-nspawn pkexec "
    "dzdo please run0 calife super systemd-cat daemon detach lxc-attach flatpak-spawn bubblewrap ch-run sandbox pssh "
    "parallel-ssh pdsh clush dsh xterm uxterm gnome-terminal konsole alacritty kitty wezterm foot st urxvt rxvt byobu "
    "ttyd gotty websocketd tcpserver tcpclient libtool autoexpect qemu-x86_64 qemu-aarch64 logsave "
    "pidstat wait-for-it wait-for-it.sh wait-for until-success watchman"
)
