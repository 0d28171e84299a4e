"""The system itself: packages, services, schedules, processes, terminals, and programs that start others.

Sources: the manual page of each, GTFOBins. Launchers that `wrappers` takes off or refuses (env, timeout, xargs, sudo,
strace, …) have no row here: what they start is judged by itself.
"""

from __future__ import annotations

import re

from hitl_cli.access import Unknown
from hitl_cli.regex import later
from hitl_cli.shell.programs.launchers import shell
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows, word_set

_STARTS = "starts another program"
_CONFIG = "loads configuration from elsewhere, which can name programs"


def _starts(reading: Reading) -> None:
    """The first operand is a program."""
    for at in reading.places[:1]:
        reading.act(at, _STARTS)


def _crontab(reading: Reading) -> None:
    for at, word in reading.placed():
        reading.act(at, "replaces the schedule of the system")
        if word != "-":
            reading.reads.append(word)
    if not reading.operands and not reading.given:
        reading.opaque = "takes a schedule of commands from its input"
    if not reading.has("-l") or reading.operands:
        reading.write("/var/spool/cron")


def _at(reading: Reading) -> None:
    if not reading.has("-l", "-c", "-V"):
        reading.opaque = "takes commands to run later from its input"
        reading.write("/var/spool/cron/atjobs")


def _date(reading: Reading) -> None:
    """An operand that is no format sets the clock."""
    for at, word in reading.placed():
        if isinstance(word, Unknown) or not word.startswith("+"):
            reading.act(at, "sets the clock of the system")


def _hostname(reading: Reading) -> None:
    for at in reading.places:
        reading.act(at, "sets the name of the system")


def _test(reading: Reading) -> None:
    """`-v NAME[subscript]` evaluates the subscript; the operand of a file test is looked at."""
    words = reading.words
    for at in range(1, len(words) - 1):
        following = words[at + 1]
        if words[at] in ("-v", "-R"):
            if not isinstance(following, str) or "[" in following:
                reading.act(at + 1, "evaluates a subscript, which can run commands")
        elif words[at] in _FILE_TESTS and following != "]":
            reading.lists.append(following)


_FILE_TESTS = frozenset(f"-{letter}" for letter in "abcdefghkprsuwxGLNOS")


def _ps(reading: Reading) -> None:
    """Letters without a dash are those of BSD, and so are all when one of them is no option of UNIX: then `e`, on macOS
    `E`, shows the environment of each process."""
    shown = [given.at for given in reading.given if given.name == "-E"]
    # The user of `-aux` is none, as a rule, nor is there a terminal in `-et`.
    glued = [
        at for at, value in reading.values("-u", "-U", "-g", "-G", "-t") if reading.words[at + 1 :][:1] != (value,)
    ]
    shown += [at for at in glued if "e" in str(reading.words[at]).lower()]
    if glued or reading.has("-x") or any(given.name == "-t" and given.value is None for given in reading.given):
        shown += [given.at for given in reading.given if given.name == "-e"]
    values = 0
    for at, word in reading.placed():
        if at == values:
            continue
        text = word.prefix if isinstance(word, Unknown) else word
        letters, value, rest = _BSD.fullmatch(text).groups()  # type: ignore[union-attr] # it meets every text
        if value and not rest:
            values = at + 1
        if "e" in letters.lower() or (isinstance(word, Unknown) and not value and not text[:1].isdigit()):
            shown.append(at)
    for at in shown:
        reading.act(at, "shows the environment of processes, which holds credentials")


_BSD = later(r"([^oOkNpqtU0-9]*)([oOkNpqtU]?)(.*)", re.DOTALL)


def _tmux(reading: Reading) -> None:
    for at, word in reading.placed()[:1]:
        if not (isinstance(word, str) and word in _TMUX_SHOWS):
            reading.act(at, "starts programs in a terminal or types into one")
    # A word that ends in `;` begins another command, and a format may hold `#(COMMAND)`, or expand to one and again.
    for at, word in enumerate(reading.words):
        if not isinstance(word, str) or word.endswith(";") or "#(" in word or _TWICE.search(word):
            reading.act(at, "may hold a further command of tmux")


_TWICE = later(r"[{;][ET][:;]")
_TMUX_SHOWS = word_set("ls list-sessions lsw list-windows lsp list-panes has has-session capture-pane capturep info")

PROGRAMS: dict[str, Row] = {
    "date": Row(
        "GNU coreutils manual",
        """
        -s --set = sets the clock of the system
        -d --date --rfc-3339 =
        -f --file = read
        -r --reference = list
        -I --iso-8601 ?
        -u --utc -R --rfc-email
        """,
        wary=True,
        then=_date,
    ),
    "hostname": Row(
        "hostname(1)",
        "-F --file = sets the name of the system\n-b --boot sets the name of the system",
        wary=True,
        then=_hostname,
    ),
    **rows("test(1), bash manual", "test [", abbreviates=False, wary=True, stops=1, then=_test),
    "crontab": Row(
        "crontab(1)",
        "-e opens an editor\n-r removes the schedule of the system\n-u = works for another user\n-l -i",
        wary=True,
        then=_crontab,
    ),
    **rows("at(1)", "at batch", "-f = takes commands to run later from a file\n-q -t =\n-l -c -V", wary=True, then=_at),
    **rows(
        "apt(8), apt-get(8), apt.conf(5)",
        "apt apt-get apt-cache aptitude",
        f"-o --option = gives a line of configuration, which can run a program\n-c --config-file = {_CONFIG}\n-t =",
    ),
    **rows(
        "dpkg(1), rpm(8)",
        "dpkg rpm dnf yum apk pacman zypper",
        f"""
        --pre-invoke --post-invoke --status-logger --log = {_STARTS}
        --root --admindir --instdir -r --config -c = {_CONFIG}
        --eval --define -D -E --pipe = {_STARTS}
        """,
    ),
    **rows(
        "systemctl(1), journalctl(1)",
        "systemctl journalctl loginctl machinectl",
        "-H --host -M --machine = works on another machine\n--root --image --file --directory -D = works on other files\n"
        "-u --unit -p --property --since --until -S -U -o --output -t --type --state -g --grep =\n-b --boot -n --lines ?",
        subs=rows("machinectl(1)", "shell", act=_STARTS, then=shell),
        shared=True,
    ),
    "systemd-run": Row("systemd-run(1)", "-p -u --unit --uid --gid --on-active =", stops=1, then=_starts, wary=True),
    **rows(
        "launchctl(1), service(8)",
        "launchctl service initctl",
        subs=rows("launchctl(1)", "submit bsexec asuser", act=_STARTS),
    ),
    **rows(
        "hyperfine(1), watchexec(1), nodemon manual",
        "hyperfine viddy watchexec nodemon",
        "-n -w -e -i -r --interval --warmup --exec --ext ?",
        stops=1,
        wary=True,
        abbreviates=False,
        then=_starts,
    ),
    **rows("tmux(1)", "tmux", f"-f = {_CONFIG}\n-c = {_STARTS}\n-L -S -T =", stops=1, wary=True, then=_tmux),
    "ps": Row("ps(1) of Linux and macOS", "--sort --format --pid --ppid -o -O -p -q -s -u -U -C -g -G -t =", then=_ps),
    **rows("top(1), htop(1)", "top htop", "-n -d -p -u -o =\n-b"),
    **rows("kill(1)", "kill pkill killall", "-s --signal -n -u -P -t ="),
    **rows(
        "lsof(8), ss(8), netstat(8)",
        "netstat fuser",
        "-k --kill ends programs\n-n --namespace =",
    ),
    "lsof": Row("lsof(8)", "-D writes a cache\n-p -u -g -d -s -c =\n-i -F ?", dashes=False),
    "ss": Row(
        "ss(8)", "-D --diag = write\n-F --filter = read\n-K --kill ends connections\n-f --family -A --query -N --net ="
    ),
    "ip": Row(
        "ip(8)",
        "-b --batch = takes commands from a file\n-n -f =",
        subs={
            "netns": Row("ip(8)", subs=rows("ip(8)", "exec", act=_STARTS)),
            "vrf": Row("ip(8)", subs=rows("ip(8)", "exec", act=_STARTS)),
        },
    ),
    "ifconfig": Row("ifconfig(8)"),
    "sysctl": Row("sysctl(8)", "-w changes the kernel's settings\n-p --load ? changes the kernel's settings"),
    **rows(
        "free(1), uptime(1), …",
        "free uptime vmstat iostat nproc lscpu lsblk lsmod uname id whoami groups who w last tty",
    ),
    **rows("mount(8)", "mount umount swapon losetup", operands="changes what the system has mounted"),
    **rows(
        "mkfs(8), fdisk(8), …",
        """mkfs mkfs.bfs mkfs.btrfs mkfs.cramfs mkfs.exfat mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.f2fs mkfs.fat mkfs.jfs
        mkfs.minix mkfs.msdos mkfs.ntfs mkfs.udf mkfs.vfat mkfs.xfs mke2fs mkdosfs mkntfs newfs fdisk cfdisk sfdisk
        gdisk sgdisk parted mkswap wipefs blkdiscard hdparm""",
        operands="make",
    ),
    "xdg-open": Row("xdg-open(1)", operands="opens another program"),
    "open": Row("macOS open(1)", "-a -b = opens another program", operands="opens another program"),
    **rows("macOS osascript(1), defaults(1)", "osascript defaults", "-e -l =", operands="controls other programs"),
    "gpg-agent": Row("gpg-agent(1)", f"--pinentry-program --daemon = {_STARTS}", stops=1),
    **rows("pbcopy(1), xclip(1)", "pbcopy pbpaste xclip xsel wl-copy wl-paste"),
    "ffmpeg": Row("ffmpeg(1)", "-i = read\n-f -c -vf -af -ss -t -to -r -b -y -n -map =", single=True, operands="make"),
    **rows("ImageMagick", "convert magick mogrify", operands="make"),
    "pandoc": Row(
        "Pandoc manual",
        f"""
        -F --filter -L --lua-filter --pdf-engine = {_STARTS}
        -d --defaults --data-dir --extract-media = {_CONFIG}
        -o --output = make
        -f --from -t --to -r --read -w --write -M -V --metadata --variable =
        """,
        operands="read",
    ),
}
