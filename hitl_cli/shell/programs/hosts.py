"""Code hosts and clouds: gh, glab, aws and their kin.

Sources: GitHub CLI manual, GitLab CLI manual, AWS CLI reference.
"""

from __future__ import annotations

import posixpath

from hitl_cli.access import Unknown
from hitl_cli.shell.programs.containers import copies
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows

_CONFIG = "loads configuration from elsewhere, which can name programs"
_BROWSER = "opens a browser"
_SENDS = "changes what is there instead of asking for it"
_TOKEN = "shows or changes stored passwords"


def _gh_api(reading: Reading) -> None:
    """Without a method a call asks; with fields it sends, unless the method says otherwise."""
    methods = list(reading.values("-X"))
    for at, method in methods:
        if not (isinstance(method, str) and method.upper() in ("GET", "HEAD")):
            reading.act(at, _SENDS)
    for given in () if methods else reading.given:
        if given.name in ("-f", "-F", "--input"):
            reading.act(given.at, _SENDS)
    for _, value in reading.values("-F"):
        text = value.prefix if isinstance(value, Unknown) else value
        name = text.partition("=@")[2]
        if name and name != "-":
            reading.reads.append(name)


def _gh_config(reading: Reading) -> None:
    if reading.operands and reading.operands[0] not in ("get", "list"):
        reading.act(reading.places[0], "changes configuration, which can name programs")
        _keeps(reading)


def _keeps(reading: Reading) -> None:
    """Settings, aliases and tokens lie in one folder."""
    folder = "glab-cli" if "glab" in reading.names else "gh"
    reading.write(f"{reading.place.home}/.config/{folder}/config.yml")


def _gh_alias(reading: Reading) -> None:
    if reading.operands and reading.operands[0] not in ("list", "browse", "search"):
        reading.act(reading.places[0], "adds or runs programs")
        if reading.operands[0] in ("set", "import", "delete"):
            _keeps(reading)


def _gh_clone(reading: Reading) -> None:
    """gh repo clone REPOSITORY [FOLDER]."""
    words = reading.operands
    if words[:1] == ["clone"] and len(words) > 1:
        for at, word in reading.placed()[2:]:
            if not isinstance(word, str) or word.startswith("-"):
                reading.act(at, "gives options to git clone")
            elif not reading.acts:
                reading.write(word)
        folder = words[2] if len(words) > 2 else posixpath.basename(words[1]) if isinstance(words[1], str) else ""
        reading.brings(folder)


def _gh_downloads(reading: Reading) -> None:
    """gh run download, gh release download: into the folder of -D."""
    _gh_files(reading)
    if reading.operands[:1] == ["download"]:
        reading.brings(next((value for _, value in reading.values("-D")), ""))


def _gh_files(reading: Reading) -> None:
    """gh gist create FILE…, gh release create|upload TAG FILE…: the files are sent."""
    words = reading.operands
    if words and words[0] in ("create", "upload", "edit"):
        reading.reads.extend(words[1:])


def _gh_keys(reading: Reading) -> None:
    """gh ssh-key add FILE, gh attestation verify FILE: the file is sent."""
    if reading.operands[:1] in (["add"], ["download"], ["verify"]):
        reading.reads += reading.operands[1:]


def _gh_auth(reading: Reading) -> None:
    if reading.operands and (reading.operands[0] != "status" or reading.has("-t")):
        reading.act(reading.places[0], _TOKEN)
        _keeps(reading)


def _aws(reading: Reading) -> None:
    """aws s3 cp|mv|sync copy files; `file://` values are read; configure writes programs that give credentials."""
    words = reading.operands
    if words[:1] == ["configure"] and len(words) > 1 and words[1] not in ("list", "get", "list-profiles"):
        reading.act(reading.places[0], "changes configuration, which can name programs")
        reading.write(f"{reading.place.home}/.aws/config")
    for given in reading.given:
        if isinstance(given.value, str) and given.value.startswith(("file://", "fileb://")):
            reading.reads.append(given.value.partition("://")[2])
    if words[:1] == ["s3"] and len(words) > 1 and words[1] in ("cp", "mv", "sync"):
        paths = words[2:]
        reading.follows = not reading.has("--no-follow-symlinks")
        for number, word in enumerate(paths):
            if isinstance(word, str) and (word.startswith("s3://") or word == "-"):
                continue
            if number:
                reading.write(word)
                if words[1] == "sync" or reading.has("--recursive"):
                    reading.brings(word, "" if isinstance(paths[0], str) and "://" in paths[0] else paths[0])
            else:
                reading.reads.append(word)


_GH = """
    -R --repo --hostname --json -q --jq -t --template -L --limit =
    -s --state -l --label -a --assignee -A --author -S --search -m --milestone --base -H --head -r --reviewer =
    -b --body --title --notes -n --branch --commit --user --event --job --created --status --order --sort =
    --add-label --remove-label --add-assignee --remove-assignee --add-reviewer --remove-reviewer --reason --comment =
    -F --body-file --notes-file --env-file --recover = read
    -e --editor opens an editor
    -w --web opens a browser
"""

PROGRAMS: dict[str, Row] = {
    "gh": Row(
        "GitHub CLI manual",
        "-R --repo --hostname =",
        subs={
            **rows("GitHub CLI manual", "pr issue project ruleset label search org status preview", _GH),
            "attestation": Row(
                "GitHub CLI manual",
                _GH + "-D --dir = make\n-b --bundle --custom-trusted-root = read\n-o --owner =",
                then=_gh_keys,
            ),
            "repo": Row("GitHub CLI manual", _GH, then=_gh_clone),
            "gist": Row("GitHub CLI manual", _GH + "-d --desc -f --filename = \n-a --add = read", then=_gh_files),
            "release": Row(
                "GitHub CLI manual",
                _GH + "-D --dir -O --output = make\n-p --pattern -A --archive =",
                then=_gh_downloads,
            ),
            **rows(
                "GitHub CLI manual",
                "run workflow cache",
                _GH + "-w --workflow =\n-D --dir = make",
                then=_gh_downloads,
            ),
            "api": Row(
                "GitHub CLI manual",
                """
                --input = read
                -F --field =
                -X --method =
                -f --raw-field =
                -H --header -q --jq -t --template --hostname --cache -p --preview =
                """,
                wary=True,
                then=_gh_api,
            ),
            "browse": Row("GitHub CLI manual", act=_BROWSER),
            "config": Row("GitHub CLI manual", wary=True, then=_gh_config),
            **rows("GitHub CLI manual", "alias extension extensions ext", wary=True, then=_gh_alias),
            "auth": Row("GitHub CLI manual", "-t --show-token", wary=True, then=_gh_auth),
            **rows("GitHub CLI manual", "codespace cs copilot agent-task", act="works on another machine"),
            **rows(
                "GitHub CLI manual",
                "secret variable ssh-key gpg-key",
                "-f --env-file = read\n-b --body -e --env -o -r -t --title --type =",
                then=_gh_keys,
            ),
            **rows("GitHub CLI manual", "help version completion"),
        },
        other=Row("GitHub CLI manual", act="is an alias or an added program"),
        shared=True,
        abbreviates=False,
    ),
    "glab": Row(
        "GitLab CLI manual",
        subs={
            "alias": Row("GitLab CLI manual", act="adds or runs programs"),
            "config": Row("GitLab CLI manual", wary=True, then=_gh_config),
            "auth": Row("GitLab CLI manual", act=_TOKEN, then=_keeps),
            **rows(
                "GitLab CLI manual",
                "mr issue repo ci pipeline release label snippet job api",
                "-w --web opens a browser",
            ),
        },
        abbreviates=False,
    ),
    "aws": Row(
        "AWS CLI reference",
        f"""
        --endpoint-url = sends requests to another place
        --ca-bundle = {_CONFIG}
        --profile --region --output --query --color --cli-read-timeout --cli-connect-timeout --exclude --include =
        """,
        abbreviates=True,
        wary=True,
        then=_aws,
    ),
    **rows(
        "rclone, gsutil and s3cmd manuals",
        "rclone gsutil s3cmd",
        f"--config -c = {_CONFIG}\n--include --exclude --filter --transfers -h -o =",
        subs=rows("their manuals", "copy copyto sync move moveto bisync cp mv rsync get put", then=copies),
        abbreviates=False,
    ),
    **rows(
        "gcloud, az references",
        "gcloud az",
        f"""
        --flags-file --configuration --impersonate-service-account = {_CONFIG}
        --command --scripts = runs a program on another machine
        """,
    ),
    **rows(
        "Ansible manual",
        "ansible ansible-playbook",
        f"""
        -M --module-path -i --inventory -e --extra-vars = {_CONFIG}
        -a --args = runs a program on other machines
        """,
    ),
}
