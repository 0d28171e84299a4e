"""Containers and clusters.

Sources: docker, kubectl, Helm and Terraform references.
"""

from __future__ import annotations

from hitl_cli.shell.programs.files import is_remote
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Row, rows

_RUNS = "runs another program"
_CONFIG = "loads configuration from elsewhere, which can name programs"
_HOST = "gives the container a part of this machine"


def copies(reading: Reading) -> None:
    """`cp SOURCE TARGET`, one of them `container:path`."""
    words = reading.operands
    for number, word in enumerate(words):
        if isinstance(word, str) and (is_remote(word) or word == "-"):
            continue
        if number == len(words) - 1:
            reading.write(word)
            reading.brings(word)
        else:
            reading.reads.append(word)


def _config(reading: Reading) -> None:
    """kubectl config view, get-…, current-context only show."""
    for at, verb in reading.placed()[:1]:
        if not (isinstance(verb, str) and verb.startswith(("view", "get-", "current-"))):
            reading.act(at, "changes configuration, which can name programs")


def _elsewhere(reading: Reading) -> None:
    """What is built, or applied to a cluster, may be fetched."""
    for at, word in (*reading.placed(), *reading.values("-f", "-k")):
        if isinstance(word, str) and ("://" in word or word.startswith(("git@", "github.com/"))):
            reading.act(at, "takes what another machine sends")


def _entered(reading: Reading) -> None:
    """`--entrypoint PROGRAM IMAGE WORDS`; what an image starts by itself may be a shell."""
    for _, program in reading.values("--entrypoint"):
        reading.starts.append((program, *reading.operands[1:]))
    if len(reading.operands) == 1:
        reading.starts.append(("sh",))


_RUN = f"""
    -v --volume --mount --volumes-from --device --tmpfs = {_HOST}
    --privileged {_HOST}
    --cap-add --security-opt --pid --ipc --userns --uts --network --net --cgroup-parent --runtime = {_HOST}
    --env-file --label-file = read
    --cidfile = make
    -p --publish -e --env -w --workdir -u --user --name -h --hostname -l --label -m --memory --cpus =
    --entrypoint =
    --platform --pull --restart --add-host --dns --expose --gpus --health-cmd --ip --log-driver --log-opt --shm-size =
    --stop-signal --stop-timeout --ulimit --memory-swap -c --cpu-shares --cpuset-cpus --link --network-alias -a --attach =
    -i --interactive -t --tty -d --detach --rm -q --quiet --init --read-only -P --publish-all
"""
_DOCKER = f"""
    -H --host -c --context = speaks to another machine
    --config --tlscacert --tlscert --tlskey = {_CONFIG}
    -l --log-level =
    -D --debug --tls --tlsverify
"""
_DOCKER_SUBS = {
    "run": Row(
        "docker reference",
        _RUN,
        stops=1,
        act="runs a program in a container",
        inner=1,
        then=_entered,
        abbreviates=False,
    ),
    "create": Row("docker reference", _RUN, stops=1, inner=1, then=_entered, abbreviates=False),
    "exec": Row(
        "docker reference",
        f"--privileged {_HOST}\n--env-file = read\n-e --env -u --user -w --workdir --detach-keys =",
        stops=1,
        act="runs a program in a container",
        inner=1,
        abbreviates=False,
    ),
    "cp": Row("docker reference", then=copies, abbreviates=False),
    "unshare": Row("Podman reference", act="runs a program in a namespace of the user", stops=1, inner=0),
    **rows(
        "docker reference",
        "build",
        f"""
        -f --file = read
        --iidfile --metadata-file = make
        -o --output = write
        --secret --ssh = {_HOST}
        --allow --network = {_HOST}
        -t --tag --build-arg --target --platform --label --cache-from --cache-to --progress --add-host --build-context =
        """,
        abbreviates=False,
        operands="read",
        then=_elsewhere,
    ),
    "bake": Row(
        "docker buildx reference",
        "-f --file = takes another build file\n--metadata-file = make\n--set =",
        abbreviates=False,
    ),
    **rows("docker reference", "save export", "-o --output = make\n--platform =", abbreviates=False),
    **rows("docker reference", "load import", "-i --input = read\n-c -m --platform =", abbreviates=False),
    "plugin": Row("docker reference", act="adds programs to docker"),
    "context": Row("docker reference", wary=True, then=_config),
}
_COMPOSE = f"""
    -f --file = takes another compose file
    --env-file = {_CONFIG}
    --project-directory = folder
    -p --project-name --profile --ansi --progress --parallel =
"""
_DOCKER_SUBS["compose"] = Row(
    "docker compose reference",
    _COMPOSE,
    subs={
        **rows(
            "docker compose reference",
            "run exec",
            f"-v --volume = {_HOST}\n--env-file = read\n-e -u -w --env --user --workdir --name --index --entrypoint =",
            stops=1,
            act="runs a program in a container",
            inner=1,
        ),
        "cp": Row("docker compose reference", then=copies),
        **rows("docker compose reference", "logs rm", "-f --follow --force"),
        **rows("docker compose reference", "up down build ps pull push restart stop start config top images ls"),
    },
    shared=True,
    abbreviates=False,
)
_DOCKER_SUBS["image"] = Row("docker reference", subs=_DOCKER_SUBS, abbreviates=False)
_DOCKER_SUBS["container"] = Row("docker reference", subs=_DOCKER_SUBS, abbreviates=False)
_DOCKER_SUBS["buildx"] = Row("docker reference", subs=_DOCKER_SUBS, abbreviates=False)

_KUBECTL = f"""
    --kubeconfig --cache-dir --kuberc = {_CONFIG}
    -s --server --certificate-authority --client-certificate --client-key = speaks to another cluster
    --token --as --as-group --as-uid --username --password = speaks for another user
    -n --namespace --context --cluster --user --request-timeout -v --v --tls-server-name =
    -o --output -l --selector --field-selector -L --label-columns --sort-by --template --chunk-size --subresource =
    -c --container --since --since-time --tail --limit-bytes --max-log-requests --replicas --timeout --for --type =
    --image --port --target-port --name --restart --env --labels --overrides --revision --grace-period --raw =
    --dry-run ?
    -f --filename -k --kustomize --patch-file --from-file --from-env-file = read
    --profile-output --output-directory = make
    --profile =
    -p --patch --from-literal --field-manager --to-revision --duration --api-group --verbs =
"""


def _kube_files(reading: Reading) -> None:
    """`name=path` values of --from-file; addresses of -f."""
    _elsewhere(reading)
    for at, word in enumerate(reading.reads):
        if isinstance(word, str):
            reading.reads[at] = word.partition("=")[2] or word
    reading.urls.extend(word for word in reading.reads if isinstance(word, str) and "://" in word)
    reading.reads = [word for word in reading.reads if not (isinstance(word, str) and ("://" in word or word == "-"))]


PROGRAMS: dict[str, Row] = {
    **rows(
        "docker reference, Podman reference",
        "docker nerdctl",
        _DOCKER,
        subs=_DOCKER_SUBS,
        abbreviates=False,
    ),
    "docker-compose": _DOCKER_SUBS["compose"],
    **rows(
        "kubectl reference",
        "kubectl oc",
        _KUBECTL,
        subs={
            **rows("kubectl reference", "exec rsh", act="runs a program in a container", inner=1),
            **rows("kubectl reference", "run debug attach", act="runs a program in the cluster"),
            "cp": Row("kubectl reference", then=copies, act="copies files from or into a container"),
            "edit": Row("kubectl reference", act="opens an editor"),
            **rows("kubectl reference", "proxy port-forward", act="opens a port into the cluster"),
            "config": Row("kubectl reference", wary=True, then=_config),
            "plugin": Row("kubectl reference"),
            "logs": Row("kubectl reference", "-f --follow\n-p --previous"),
            **rows(
                "kubectl reference",
                "get describe top explain api-resources api-versions cluster-info version auth events wait diff "
                "kustomize apply create delete replace patch scale autoscale rollout label annotate expose set cordon "
                "uncordon drain taint certificate completion options help",
                then=_kube_files,
            ),
        },
        other=Row("kubectl reference", act="is an added program"),
        shared=True,
        abbreviates=False,
    ),
    "helm": Row(
        "Helm documentation",
        f"""
        --kubeconfig --registry-config --repository-config --repository-cache --kube-ca-file = {_CONFIG}
        --kube-apiserver --kube-token --kube-as-user = speaks to another cluster
        --post-renderer = {_RUNS}
        -f --values --set-file = read
        --output-dir -d --destination = make
        -n --namespace --kube-context --set --set-string --set-json --version --repo --timeout -o --output =
        """,
        subs={
            "plugin": Row("Helm documentation", act="adds or runs programs"),
            **rows("Helm documentation", "install upgrade template status get history rollback uninstall lint repo"),
            **rows("Helm documentation", "list ls", "-d --date"),
        },
        shared=True,
        abbreviates=False,
    ),
    **rows(
        "Terraform, OpenTofu reference",
        "terraform tofu",
        f"""
        -chdir = folder
        -plugin-dir -from-module = {_CONFIG}
        -backend-config -var-file = read
        -out -state-out -backup -state = make
        -var -target -replace -parallelism -lock-timeout =
        """,
        single=True,
        shared=True,
        subs=rows(
            "Terraform reference",
            "init plan apply destroy validate fmt show output state import refresh workspace providers console",
            single=True,
        ),
    ),
}
