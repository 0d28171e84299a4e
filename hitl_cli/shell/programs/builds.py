"""Compilers and build tools.

They are made to write and run what the project says. Acts are the words that make them take another project's say, or
replace the programs they start.
Sources: GNU make manual, cmake(1), ninja manual, Meson manual, GCC and Clang manuals, Bazel manual.
"""

from __future__ import annotations

import re

from hitl_cli.access import Unknown
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows

_CODE = "loads code from elsewhere"
_CONFIG = "loads configuration from elsewhere, which can name code"
_RUNS = "runs another program"

# Variables of make that only choose how much is said or built; others can replace a program or hold make text.
_PLAIN_VARIABLE = re.compile(r"(?:V|VERBOSE|Q|DEBUG|RELEASE|NDEBUG|CI|NO_COLOR|TEST|TESTS|PKG|VERSION)=[\w.,/:+-]*")
_PLAIN_DEFINE = re.compile(
    r"(?:CMAKE_BUILD_TYPE|CMAKE_EXPORT_COMPILE_COMMANDS|CMAKE_CXX_STANDARD|CMAKE_C_STANDARD|BUILD_\w+|ENABLE_\w+|WITH_\w+"
    r"|USE_\w+|\w+_BUILD_\w+)(?::\w+)?=\w*"
)


def _make(reading: Reading) -> None:
    """`NAME=value` operands are make variables."""
    for at, word in reading.placed():
        text = word.prefix if isinstance(word, Unknown) else word
        if "=" in text and (isinstance(word, Unknown) or not _PLAIN_VARIABLE.fullmatch(word)):
            reading.act(at, "sets a variable of make, which can replace its shell or hold commands")


def _cmake(reading: Reading) -> None:
    for at, folder in reading.values("--build", "--install"):
        if not (isinstance(folder, str) and reading.within(folder)):
            reading.act(at, "builds in a folder outside the workspace")
    for at, value in reading.values("-D"):
        if not (isinstance(value, str) and _PLAIN_DEFINE.fullmatch(value)):
            reading.act(at, "sets a variable, which can name programs")
    for at, word in reading.placed():
        if reading.has("--build"):
            if isinstance(word, Unknown) or not re.fullmatch(r"-[jklvsn]?\d*|-j|VERBOSE=1", word):
                reading.act(at, "passes words to the build program")
        else:
            reading.reads.append(word)


_NO_OUTPUT = frozenset(["-E", "-M", "-MM", "-fsyntax-only"])


def _compiler(reading: Reading) -> None:
    """Options with their value glued on (`-ofile`, `-Bdir`), and lists of options in a file."""
    for given in reading.given:
        name = given.name
        if name.startswith("-o") and len(name) > 2 and not name.startswith(("-objc", "-openmp")):
            reading.write(name[2:])
        elif name.startswith("-B") or (name.startswith(("-Wl,", "-Wp,", "-Wa,")) and "plugin" in name):
            reading.act(given.at, _CODE)
    if reading.operands and not any(given.name.startswith("-o") or given.name in _NO_OUTPUT for given in reading.given):
        reading.write("a.out")
    options_in_files(reading)
    reading.reads += [word for word in reading.operands if not (isinstance(word, str) and word.startswith("@"))]


def options_in_files(reading: Reading) -> None:
    """GNU binutils and compilers: a word `@file`, wherever it stands, is replaced by the options in that file."""
    for at, word in enumerate(reading.words[1:], 1):
        if (word if isinstance(word, str) else word.prefix).startswith("@"):
            reading.act(at, "takes options from a file")


_BINUTILS = "GNU binutils"
_GCC = f"""
    -o = make
    -B -specs --specs -fplugin -wrapper -fuse-ld -iplugindir = {_CODE}
    -Xclang -Xlinker -Xassembler -Xpreprocessor = passes options to a program inside
    -MF -MD -dumpdir -save-temps ?
    -I -L -D -U -include -isystem -iquote -idirafter -MT -MQ -x -arch -framework -isysroot -target -T -u -z -e -A =
    -std -march -mtune -O ?
"""

PROGRAMS: dict[str, Row] = {
    **rows(
        "GNU make manual",
        "make",
        f"""
        -f --file --makefile = takes another makefile
        -E --eval = is carried out as make text
        -I --include-dir = {_CONFIG}
        -C --directory = folder
        -o --old-file --assume-old -W --what-if --new-file --assume-new =
        -j --jobs -l --load-average --max-load -O --output-sync --debug --shuffle ?
        -n --just-print --dry-run --recon -k --keep-going -s --silent --quiet -B --always-make -i -e -q -r -R -t -w -p
        """,
        wary=True,
        then=_make,
    ),
    "cmake": Row(
        "cmake(1)",
        f"""
        -P = runs a script
        -C = runs a script
        --toolchain = {_CONFIG}
        -E {_RUNS}
        --trace-redirect --profiling-output --graphviz = write
        --open opens a program
        -D =
        -S = read
        -B --prefix = make
        --build --install = list
        -G -U -A -T -W --preset --config --target -t -j --parallel --component --log-level =
        """,
        wary=True,
        abbreviates=False,
        then=_cmake,
    ),
    "ctest": Row(
        "ctest(1)",
        "-S -SP --script = runs a script\n--test-dir = folder\n--build-and-test = runs another program\n"
        "-O --output-log --output-junit = write\n-T -D -R -E -j -C =",
    ),
    "just": Row(
        "just manual",
        """
        -f --justfile = takes another file of recipes
        -d --working-directory = folder
        --shell --shell-arg --chooser --cygpath = runs another program
        -c --command runs another program
        -e --edit opens an editor
        --set ==
        --dotenv-path --dotenv-filename --color --list-heading --list-prefix =
        """,
        abbreviates=False,
    ),
    "task": Row(
        "Task manual",
        "-t --taskfile = takes another file of tasks\n-d --dir = folder\n-g --global works elsewhere\n-C -o --output -I =",
        abbreviates=False,
    ),
    "ninja": Row(
        "ninja manual", "-f = takes another build file\n-C = folder\n-j -k -l -w -d =\n-t =", abbreviates=False
    ),
    "meson": Row(
        "Meson manual",
        f"--native-file --cross-file = {_CONFIG}\n-C = folder",
        shared=True,
        subs=rows("Meson manual", "setup", operands="make"),
    ),
    **rows(
        "GCC manual, Clang manual",
        "gcc cc g++ c++ clang clang++ cpp gfortran",
        _GCC,
        single=True,
        abbreviates=False,
        wary=True,
        then=_compiler,
    ),
    "ld": Row(
        "GNU ld manual", f"-plugin --plugin = {_CODE}\n-o = make", single=True, operands="read", then=options_in_files
    ),
    **rows(
        _BINUTILS,
        "nm",
        "--plugin = loads a library\n-f --format -t --radix =",
        operands="read",
        then=options_in_files,
    ),
    **rows(_BINUTILS, "size readelf", "--plugin = loads a library", operands="read", then=options_in_files),
    "objdump": Row(
        _BINUTILS,
        "-j --section -M -m -b --target --start-address --stop-address =",
        operands="read",
        then=options_in_files,
    ),
    **rows(_BINUTILS, "strip ranlib", "-o = make", operands="make", then=options_in_files),
    "ldd": Row("ldd(1): it may run the program it looks at", wary=True, operands="may run the program it looks at"),
    **rows(
        "Bazel manual",
        "bazel bazelisk",
        f"--bazelrc --output_user_root --override_repository --run_under --shell_executable --workspace_rc ? {_CONFIG}",
        abbreviates=False,
        shared=True,
        subs=rows("Bazel manual", "build test query info run"),
    ),
}
