"""The tool chains of single languages: Rust, Go, Java, Swift, .NET, Ruby.

Sources: The Cargo Book, the rustc book, go command documentation, javac(1), java(1), Maven and Gradle manuals.
"""

from __future__ import annotations

import re

from hitl_cli.regex import later
from hitl_cli.shell.programs.python import named_behind
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows

_CODE = "loads code from elsewhere"
_CONFIG = "loads configuration from elsewhere, which can name code"
_RUNS = "runs another program"

_PLAIN_PROPERTY = re.compile(
    r"(?:skipTests|skipITs|test|it\.test|maven\.test\.skip|checkstyle\.skip|spotless\.check\.skip|surefire\.\w+|revision"
    r"|failIfNoTests|groups|DskipTests)(?:=.*)?"
)


# What is given to linker and compiler in daily use: values of variables, and less or more debugging.
_LINK = re.compile(r"(?:\s*(?:-[sw]|-X[ =](?:'[^']*'|\S+)))*\s*")
_COMPILE = re.compile(r"(?:[\w./]+=)?(?:\s*-[NlmSCe](?:=\d+)?)*\s*")
_PLAIN = {"-ldflags": _LINK, "-gcflags": _COMPILE, "-asmflags": _COMPILE}


def _go(reading: Reading) -> None:
    for given in reading.given:
        plain, value = _PLAIN.get(given.name), given.value
        if plain is not None and value is not None and not (isinstance(value, str) and plain.fullmatch(value)):
            reading.act(given.at, "passes options to the compiler or linker")


def _gofmt(reading: Reading) -> None:
    for word in reading.operands:
        reading.reads.append(word)
        if reading.has("-w", "-i") and word != ".":
            reading.write(word)


def _one_liner(reading: Reading) -> None:
    """perl and ruby as filters (`-ne`, `-pi -e`): the operands are read, with -i written; else the script is."""
    filters = reading.has("-n", "-p", "-i")
    if not reading.has("-e", "-E"):
        named_behind(reading)
    operands = reading.operands if filters and reading.has("-e", "-E") else reading.operands[:1]
    if reading.has("-e", "-E") and not filters:
        return
    for word in operands:
        if not isinstance(word, str) or reading.within(word):
            reading.reads.append(word)
            if reading.has("-i"):
                reading.write(word)


def _rustc(reading: Reading) -> None:
    for at, value in reading.values("-C"):
        if not isinstance(value, str) or value.startswith(("linker", "link-arg", "link-args")):
            reading.act(at, _RUNS)
    reading.reads.extend(reading.operands)


def _maven(reading: Reading) -> None:
    for at, value in reading.values("-D", "-P"):
        if reading.words[at] != "-P" and not (isinstance(value, str) and _PLAIN_PROPERTY.fullmatch(value)):
            reading.act(at, "sets a property, which can name code")


_GO = f"""
    -exec = {_RUNS}
    -toolexec -vettool = {_RUNS}
    -overlay -modfile -pkgdir = {_CONFIG}
    -gccgoflags -compiler = passes options to the compiler or linker
    -ldflags =
    -gcflags =
    -asmflags =
    -C = folder
    -o -pkgdir = make
    -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -outputdir -test.testlogfile = make
    -run -bench -count -timeout -p -parallel -cpu -skip -list -tags -mod -covermode -coverpkg -benchtime -fuzz -buildmode =
    -fuzztime -shuffle -vet -f -installsuffix =
"""
_CARGO = f"""
    --manifest-path = builds another package
    --config = {_CONFIG}
    -C = folder
    --lockfile-path = {_CONFIG}
    --target-dir --artifact-dir --out-dir = make
    --root = make
    --path = read
    --git --index --registry = takes packages from another place
    -p --package -j --jobs -F --features --bin --example --test --bench --target --profile --exclude --message-format =
    --color -Z --branch --tag --rev --vers =
"""


def _machine(reading: Reading) -> None:
    """`-J` hands an option to the machine that runs the compiler: all but the size of its memory may load code."""
    for at, word in enumerate(reading.words):
        text = word if isinstance(word, str) else word.prefix
        if text.startswith("-J") and not _MEMORY.fullmatch(text):
            reading.act(at, "hands an option to the Java machine, which can load code")


_MEMORY = later(r"-J-X(?:mx|ms|ss|mn)\d+[kKmMgG]?")

PROGRAMS: dict[str, Row] = {
    "cargo": Row(
        "The Cargo Book",
        _CARGO,
        subs={
            **rows(
                "The Cargo Book",
                "build b check c clippy test t bench doc d fmt run r add remove rm update search tree metadata clean "
                "fetch fix generate-lockfile locate-project package pkgid verify-project version help "
                "install uninstall publish login logout owner yank report info nextest rustc rustdoc",
            ),
            **rows(
                "The Cargo Book",
                "new init vendor",
                "--bin\n--name --vcs --edition =\n-s --sync = read",
                operands="make",
            ),
        },
        other=Row("The Cargo Book", act="is an added program or an alias"),
        shared=True,
        plus=True,
        abbreviates=True,
    ),
    "rustc": Row(
        "The rustc book",
        "-o --out-dir = make\n-C --codegen =\n--extern -L -l --crate-name --crate-type --edition --emit --cfg =\n"
        "--target -A -W -D --print --explain =",
        wary=True,
        at_files=True,
        then=_rustc,
    ),
    "rustup": Row("rustup book", subs={"run": Row("rustup book", act=_RUNS, stops=1)}),
    "go": Row(
        "go command documentation",
        _GO,
        subs={
            "env": Row(
                "go command documentation", "-w changes the settings of go\n-u changes the settings of go", single=True
            ),
            "generate": Row("go command documentation", single=True),
            "tool": Row("go command documentation", act=_RUNS, stops=1, single=True),
            "bug": Row("go command documentation", act="opens a browser", single=True),
            "run": Row("go command documentation", stops=1, single=True, abbreviates=False, wary=True, then=_go),
            "test": Row(
                "go command documentation",
                "-o = write",
                single=True,
                abbreviates=False,
                wary=True,
                then=_go,
            ),
            **rows(
                "go command documentation",
                "build vet list mod get fmt install doc version clean work fix help telemetry",
                single=True,
                abbreviates=False,
                wary=True,
                then=_go,
            ),
        },
        shared=True,
        single=True,
        abbreviates=False,
    ),
    **rows(
        "gofmt, gofumpt, goimports",
        "gofmt gofumpt goimports",
        """
        -cpuprofile = write
        -r -local =
        -w -l -d -s -e
        """,
        single=True,
        then=_gofmt,
    ),
    **rows("shfmt, clang-format manuals", "shfmt clang-format", "-i -ln -style -ci ?\n-w", then=_gofmt),
    "rustfmt": Row("rustfmt manual", "--config-path --config --edition =\n--check", operands="make"),
    **rows(
        "perl(1), ruby(1)",
        "perl ruby",
        """
        -e -E =
        -i -I -M -m -l -0 -F -C -x ?
        -n -p -a -w
        """,
        stops=1,
        abbreviates=False,
        then=_one_liner,
    ),
    **rows(
        "golangci-lint documentation",
        "golangci-lint",
        f"-c --config = {_CONFIG}\n--path-prefix --timeout -E --enable -D --disable -p --presets --out-format -j =",
        abbreviates=False,
    ),
    "javac": Row(
        "javac(1)",
        f"""
        -processor -processorpath --processor-path -Xplugin = {_CODE}
        -d -s -h = make
        -cp -classpath --class-path -sourcepath -source -target --release -encoding --module-path -p =
        """,
        single=True,
        at_files=True,
        abbreviates=False,
        operands="read",
        wary=True,
        then=_machine,
    ),
    "java": Row(
        "java(1)",
        f"""
        -javaagent -agentpath -agentlib ? {_CODE}
        -XX:OnError -XX:OnOutOfMemoryError ? {_RUNS}
        -cp -classpath --class-path -jar =
        """,
        single=True,
        at_files=True,
        stops=1,
        abbreviates=False,
    ),
    **rows(
        "Maven manual",
        "mvn mvnw",
        f"""
        -f --file = builds another project
        -s --settings -gs --global-settings -t --toolchains -gt = {_CONFIG}
        -l --log-file = write
        -D --define =
        -P --activate-profiles =
        -pl --projects -rf --resume-from -T --threads -b --builder =
        """,
        abbreviates=False,
        wary=True,
        then=_maven,
    ),
    **rows(
        "Gradle manual",
        "gradle gradlew",
        f"""
        -I --init-script = runs a script
        -b --build-file -c --settings-file --include-build = {_CONFIG}
        -p --project-dir = folder
        -g --gradle-user-home --project-cache-dir = {_CONFIG}
        -D --system-prop -P --project-prop = sets a property, which can name code
        -x --exclude-task --console --warning-mode --max-workers --tests -F =
        """,
        abbreviates=False,
    ),
    "swift": Row(
        "swift manual", f"--package-path -C --chdir = folder\n-Xswiftc -Xcc -Xlinker = {_CODE}", abbreviates=False
    ),
    "dotnet": Row(
        "dotnet manual",
        "-o --output = make\n-c --configuration -f --framework -r -v --filter =",
        abbreviates=False,
        operands="read",
    ),
    **rows(
        "Bundler manual",
        "bundle",
        subs={
            "exec": Row("Bundler manual", act=_RUNS, stops=1, inner=0),
            "config": Row("Bundler manual", act=_CONFIG),
        },
    ),
    "rake": Row(
        "rake manual", f"-f --rakefile -r --require -R --rakelibdir -I = {_CODE}\n-e --execute -E -p = runs code"
    ),
    "rspec": Row(
        "rspec manual", f"-r --require -O --options -I = {_CODE}\n-o --out = write\n-e -f -t -p -P =", operands="list"
    ),
    "rubocop": Row("rubocop manual", f"-r --require -c --config = {_CODE}\n-o --out = write\n-f --only --except ="),
}
