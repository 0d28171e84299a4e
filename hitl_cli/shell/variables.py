"""Which variables change what programs do: names and values that are known to be harmless, and names that are not.

In front of a command, or exported, a variable reaches the program, and any program may read any name: only names known
to be harmless are set aside. A variable that is merely set stays in the shell unless the name was exported before the
text began: there the names that shells, loaders and programs are known to read are what matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hitl_cli.access import Word
from hitl_cli.regex import later
from hitl_cli.shell.programs.table import word_set

# Names whose every value only changes looks, verbosity, language, or the ordinary settings of a test run. FOO, BAR,
# BAZ and X are what people write when no program reads the name.
_HARMLESS = word_set(
    """
    CI TZ LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_NUMERIC LC_TIME COLUMNS LINES TERM COLORTERM
    NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE CARGO_TERM_COLOR PY_COLORS TERM_PROGRAM LS_COLORS GREP_COLORS
    NODE_ENV RAILS_ENV RACK_ENV APP_ENV FLASK_ENV FLASK_DEBUG MIX_ENV BABEL_ENV ENVIRONMENT DEBUG VERBOSE QUIET
    LOG_LEVEL LOGLEVEL RUST_BACKTRACE RUST_LOG RUST_TEST_THREADS RUST_MIN_STACK GOMAXPROCS GOGC GOTRACEBACK
    PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONIOENCODING PYTHONUTF8 PYTHONFAULTHANDLER
    DJANGO_LOG_LEVEL PORT DEBIAN_FRONTEND HOMEBREW_NO_AUTO_UPDATE GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS
    NEXT_TELEMETRY_DISABLED DO_NOT_TRACK DOTNET_CLI_TELEMETRY_OPTOUT DOTNET_NOLOGO TURBO_TELEMETRY_DISABLED
    TF_IN_AUTOMATION TF_CLI_NO_COLOR OMP_NUM_THREADS MKL_NUM_THREADS OPENBLAS_NUM_THREADS TOKENIZERS_PARALLELISM
    CUDA_VISIBLE_DEVICES TF_CPP_MIN_LOG_LEVEL PIP_DISABLE_PIP_VERSION_CHECK PIP_NO_COLOR UV_NO_PROGRESS
    SOURCE_DATE_EPOCH PUPPETEER_SKIP_DOWNLOAD FOO BAR BAZ QUX X Y Z
    """
)
# Names that choose a program: harmless with a value that does nothing.
_PROGRAM = later(
    r"(?:GIT_|MAN|GH_|BAT_|SYSTEMD_|AWS_)?PAGER|(?:GIT_|GIT_SEQUENCE_)?EDITOR|VISUAL|BROWSER|(?:GIT_|SSH_)ASKPASS"
)
_COMMANDS = later(  # further such names
    r"(?:.*(?:COMMAND|_CMD|_DIFF|_RSH|_SSH|_SHELL|_shell|WRAPPER|RUNNER|LINKER|OPTIONS)|LESSOPEN|LESSCLOSE|SHELL|CC|CXX|LD|AR"
    r"|GIT_CONFIG_(?:VALUE_\d+|PARAMETERS))"
)
# Names of a file that is written.
_WRITTEN = later(
    r"GIT_TRACE\w*|GIT_INDEX_FILE|SSLKEYLOGFILE|\w*HISTFILE|NODE_REDIRECT_WARNINGS|LLVM_PROFILE_FILE|COVERAGE_FILE"
)
_NOTHING = frozenset(("cat", "true", ":", "", "/bin/true", "/bin/cat"))

# Names that shells, loaders or programs read to find code, configuration, credentials or a host.
_DANGEROUS = later(
    r"""(?x:
    PATH|IFS|ENV|HOME|PWD|OLDPWD|CDPATH|SHELL|SHELLOPTS|BASHOPTS|BASH.*|PS[0-4]|PROMPT_COMMAND|GLOBIGNORE|FIGNORE|OPTERR
    |HISTFILE|FCEDIT|EXECIGNORE|POSIXLY_CORRECT|TMPDIR|TEMP|TMP|TEXTDOMAIN.*|TIMEFORMAT|TMOUT|MAIL.*|INPUTRC|HOSTFILE
    |LANG|LC_.*|LANGUAGE|OPTIND
    |(?:LD|DYLD|GIT|GCONV|PYTEST|NODE|NPM|npm|YARN|BUN|BUNDLE|GEM|MAVEN|GRADLE|CARGO|RUST|RUSTC|CMAKE|CTEST|CCACHE
      |PKG|DOCKER|COMPOSE|KUBE|HELM|AWS|AZURE|GOOGLE|CLOUDSDK|TF|ANSIBLE|SSH|GPG|CURL|XDG|UV|PIP|POETRY|CONDA|NIX
      |RIPGREP|FZF|BAT|GH|GLAB|COMPOSER|ELECTRON|PLAYWRIGHT|PUPPETEER|SYSTEMD|HITL|ANTHROPIC|OPENAI|JAVA|JDK|TAR
      |GREP|LUA|JULIA|R|PG|MYSQL)_.*
    |(?:PYTHON|PERL5|PERL|RUBY|LESS|MAN|TERMINFO|KUBECONFIG|WGETRC|CLASSPATH|MYVIMRC|VIMINIT|NODE|GO(?:FLAGS|PATH|ROOT|BIN
      |PROXY|ENV|SUMDB|PRIVATE|CACHE|TOOLCHAIN)).*
    |LOCPATH|NLSPATH|VISUAL|_JAVA_OPTIONS|CC|CXX|CPP|LD|AR|AS|NM|FC|RUSTFLAGS|RUSTC
    |(?:.*_)?(?:PAGER|EDITOR|BROWSER|ASKPASS|PROXY|proxy|PRELOAD|OPTS|OPTIONS|FLAGS)|.*FLAGS
    )\Z"""
)
# Names that the shell itself gives values which a text can choose: not to be computed with.
_SET_BY_SHELL = later(
    r"(?:[0-9]+|_|REPLY|MAPFILE|COPROC.*|BASH_.*|OPTARG|DIRSTACK|FUNCNAME|GROUPS|READLINE_.*|COMP_.*)\Z"
)


_PATH = "sets LANGUAGE, in which a path loads messages of a program from anywhere"


def reaches(name: str, value: Word) -> str:
    """Why `name=value` in front of a command, or exported, is not set aside; "" when it is harmless."""
    if name in _HARMLESS or (name.startswith("LC_") and name.isupper()):
        return "" if name != "LANGUAGE" or (isinstance(value, str) and "/" not in value) else _PATH
    if _PROGRAM.fullmatch(name) and isinstance(value, str) and value in _NOTHING:
        return ""
    return f"sets {name}, which the program may read"


def programs(assignments: Iterable[Word], words: Sequence[Word] = ()) -> list[str]:
    """What those of `NAME=value` that choose a program, or that `words` name, choose: a text for a shell, which may be what
    the value gives to a key."""
    named = {word.rpartition("=")[2] for word in words if isinstance(word, str)}
    parts = [word.partition("=") for word in assignments if isinstance(word, str)]
    chosen = [v for name, _, v in parts if name in named or _PROGRAM.fullmatch(name) or _COMMANDS.fullmatch(name)]
    return [each.strip("' ") for v in chosen for each in (v, v.partition("=")[2], v.rpartition("=")[2])]


def files(assignments: Iterable[Word]) -> list[str]:
    """The files that those of `NAME=value` have a program write; what is no path is a flag or a descriptor."""
    parts = [word.partition("=") for word in assignments if isinstance(word, str)]
    return [value for name, _, value in parts if "/" in value and _WRITTEN.fullmatch(name)]


def stays(name: str, value: Word) -> str:
    """Why `name=value` alone changes what later words mean or do; "" when it is a variable of the text's own."""
    if not reaches(name, value) or _DANGEROUS.match(name) is None:
        return ""
    return f"sets {name}, which changes what later commands do"


def computable(name: str) -> bool:
    """False for names whose value the text may choose although it never assigns them."""
    return _SET_BY_SHELL.match(name) is None
