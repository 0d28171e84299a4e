"""Which family has the row of a program, so that a command loads the tables of its own programs and no others."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module

from hitl_cli.access import Word
from hitl_cli.shell.programs.table import Row, word_set

# The families, each a module beside this one, and the programs in its table.
FAMILIES = {
    "archives": """
        tar zip unzip zipinfo gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma lz4 unlz4 pigz unpigz compress
        uncompress brotli pbzip2 lzip lzop rzip zstd unzstd 7z 7za 7zr 7zz cpio ar
    """,
    "awk": "awk",
    "builds": """
        make cmake ctest just task ninja meson gcc cc g++ c++ clang clang++ cpp gfortran ld nm size readelf objdump
        strip ranlib ldd bazel bazelisk
    """,
    "checkers": """
        ruff black isort autopep8 pyupgrade docformatter yapf mypy flake8 pylint pyright basedpyright
    """,
    "containers": "docker nerdctl docker-compose kubectl oc helm terraform tofu",
    "converters": """
        dos2unix unix2dos mac2unix unix2mac rename prename file-rename perl-rename dot neato fdp xsltproc msgfmt
        msgmerge xgettext bison yacc flex lex wkhtmltopdf asciidoctor pdftotext pdftoppm pdftocairo pdfunite
        pdfseparate qpdf cwebp dwebp rsvg-convert inkscape sox lame jpegoptim optipng pngquant exiftool
    """,
    "data": """
        jq gojq jaq yq xmllint mlr csvcut csvgrep csvlook csvstat xsv psql mysql mariadb sqlite3 sqlite duckdb
        mongosh mongo redis-cli pg_dump
    """,
    "files": """
        cp mv ln link install rm rmdir unlink shred trash trash-put gio-trash tee sponge mkdir mkfifo mknod mktemp
        touch truncate fallocate chmod chown chgrp chattr setfacl setfattr dd patch rsync
    """,
    "git": "git gitk tig",
    "hosts": "gh glab aws rclone gsutil s3cmd gcloud az ansible ansible-playbook",
    "javascript": """
        node tsx ts-node bun bunx deno tsc tsgo vue-tsc eslint prettier jest vitest mocha ava
        playwright cypress c8 nyc karma vite webpack rollup esbuild tsup next nuxt turbo nx lerna parcel swc husky
        lefthook biome stylelint oxlint dprint
    """,
    "languages": """
        cargo rustc rustup go gofmt gofumpt goimports shfmt clang-format rustfmt perl ruby golangci-lint javac java
        mvn mvnw gradle gradlew swift dotnet bundle rake rspec rubocop
    """,
    "launchers": """
        fish csh tcsh yash xonsh nu elvish pwsh powershell conda mamba micromamba nix-shell nix mise direnv asdf
        pixi devbox devenv guix rbenv pyenv jenv goenv nodenv nvm fnm volta opam stack cabal dune foreman honcho
        flatpak distrobox toolbox lxc incus limactl colima multipass minikube crictl buildah vagrant adb op
        doppler dotenvx aws-vault chamber pueue heroku fly flyctl sops infisical teller berglas railway snap
        singularity apptainer udocker consul etcdctl zellij telepresence netlify cronitor ctr fzf sk ld.so
        dbus-launch faketime eatmydata run-parts run-one multitime dtach abduco gdb lldb rr heaptrack rush
        winpty gosu su-exec tini dumb-init s6-setuidgid cpulimit trickle dotenv cross-env retry tsp nq wsl
        concurrently rtk ccache sccache distcc icecc bear intercept-build scan-build uftrace memusage sotruss
        xtrace dtruss truss ktrace wine box64 mono noti env-cmd cross-env-shell start-server-and-test graftcp
        setuidgid envdir envuidgid setlock lckdo with-lock-ex solo runcon sandbox-exec arch cronic summon
        envchain envconsul task-spooler corepack apply pee mispipe onchange chokidar reflex dockerize gum
        when-changed watchman-make inotify-hookable ts asciinema ttyrec dtrace bpftrace et schedtool progress
    """,
    "listings": "ls dir vdir eza exa lsd tree stat basename dirname realpath readlink file du df",
    "network": """
        curl wget aria2c yt-dlp youtube-dl http https httpie nc ncat netcat socat telnet ftp nmap tcpdump ping ping6
        traceroute host nslookup whois dig openssl gpg age
    """,
    "own": "hitl hitl_cli",
    "packages": "npm npx pnpm yarn",
    "pagers": """
        less more most pg bat batcat man apropos whatis info vim ex vimdiff gvim rvim emacs emacsclient nano pico ed
        red
    """,
    "python": """
        json.tool venv zipfile tarfile python python3 python2 pypy pypy3 pytest py.test pip pip3 uv uvx pipx poetry
        pdm hatch pipenv rye tox nox coverage ipython jupyter pre-commit django-admin
    """,
    "search": "find fd grep zgrep xzgrep bzgrep rg ripgrep ag ack locate which whereis type hash",
    "sed": "sed",
    "ssh": "ssh rsh dbclient scp sftp ssh-keygen ssh-agent ssh-add ssh-keyscan sshpass autossh mosh",
    "system": """
        date hostname test [ crontab at batch apt apt-get apt-cache aptitude dpkg rpm dnf yum apk pacman zypper
        systemctl journalctl loginctl machinectl systemd-run launchctl service initctl hyperfine viddy watchexec
        nodemon
        tmux ps top htop kill pkill killall netstat fuser lsof ss ip ifconfig sysctl free uptime vmstat iostat nproc
        lscpu lsblk lsmod uname id whoami groups who w last tty mount umount swapon losetup mkfs mkfs.bfs mkfs.btrfs
        mkfs.cramfs mkfs.exfat mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.f2fs mkfs.fat mkfs.jfs mkfs.minix mkfs.msdos
        mkfs.ntfs mkfs.udf mkfs.vfat mkfs.xfs mke2fs mkdosfs mkntfs newfs fdisk cfdisk sfdisk gdisk sgdisk parted
        mkswap wipefs blkdiscard hdparm xdg-open open osascript defaults gpg-agent pbcopy pbpaste xclip xsel wl-copy wl-paste
        ffmpeg convert magick mogrify pandoc
    """,
    "text": """
        cat pr ptx sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum tsort zcat bzcat xzcat zstdcat lz4cat
        md5 comm cksum b2sum shasum paste join column expand unexpand fold fmt tac rev nl head tail wc cut tr uniq
        sort shuf split csplit xxd base64 base32 basenc od hexdump hd strings iconv diff cmp diff3 sdiff
    """,
    "unpackers": "jar unar cabextract unsquashfs aunpack innoextract patool unrar",
}
_FAMILY_OF = {name: family for family, names in FAMILIES.items() for name in names.split()}
# Checkers, compilers and test runners look for files of their own kind in a folder they are given.
_OF_A_KIND = word_set("checkers javascript languages packages python")

# Other names under which a row's program is installed; deny rules for one name hold for the other.
SAME = {
    **dict.fromkeys(word_set("ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld64.so.2"), "ld.so"),
    **dict.fromkeys(word_set("ld-musl-x86_64.so.1 ld-musl-aarch64.so.1"), "ld.so"),
    "gawk": "awk",
    "mawk": "awk",
    "nawk": "awk",
    "original-awk": "awk",
    "gsed": "sed",
    "gfind": "find",
    "ggrep": "grep",
    "egrep": "grep",
    "fgrep": "grep",
    "gtar": "tar",
    "bsdtar": "tar",
    "gmake": "make",
    "nodejs": "node",
    "vi": "vim",
    "view": "vim",
    "nvim": "vim",
    "fdfind": "fd",
    "podman": "docker",
    "gdu": "du",
    "gsort": "sort",
    "gcp": "cp",
    "gmv": "mv",
    "grm": "rm",
    "grealpath": "realpath",
    "gdate": "date",
    "pip3": "pip",
    "python3": "python",
    "python2": "python",
}

# Other words for a sub-command, or a group in front of it (""), for deny and ask rules.
ALIASES: dict[str, dict[Word, str]] = {
    "cargo": {"b": "build", "c": "check", "t": "test", "r": "run", "d": "doc", "rm": "remove"},
    "docker": {"container": "", "image": "", "remove": "rm"},
    "git": {"stage": "add", "annotate": "blame"},
    "helm": {"del": "uninstall", "delete": "uninstall", "un": "uninstall", "ls": "list", "dep": "dependency"},
    "uv": {"pip": ""},
}

_VERSION = re.compile(r"-?\d[\d.]*$")


def row_of(base: str) -> Row | None:
    """The row of a program by its base name, also under another name or with a version behind it (python3.12)."""
    names = (base, SAME.get(base, ""), _VERSION.sub("", base) if base[-1:].isdigit() else "")
    name = next((name for name in names if name in _FAMILY_OF), None)
    return _rows(_FAMILY_OF[name])[name] if name is not None else None


@cache
def _rows(family: str) -> dict[str, Row]:
    found: dict[str, Row] = import_module(f"hitl_cli.shell.programs.{family}").PROGRAMS
    if family in _OF_A_KIND:
        for row in found.values():
            row.only = "some"
    return found
