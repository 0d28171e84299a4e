"""`python -m hitl_cli`, and what the `hitl` command runs. The version is told before anything heavy is imported."""

import os
import sys


def main() -> int:
    if sys.platform == "win32":
        print("hitl does not run on Windows; use it inside WSL.", file=sys.stderr)
        return 2
    if sys.argv[1:2] == ["--version"]:
        from hitl_cli.version import VERSION

        return _told(f"hitl {VERSION}")
    if "_HITL_COMPLETE" in os.environ or sys.argv[1:2] in (["--show-completion"], ["--install-completion"]):
        from hitl_cli.cli.complete import door

        return door(sys.argv[1:])
    import gc
    import signal

    gc.set_threshold(50_000)  # a short command makes little to collect; looking for it took 8 of its 100 ms
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)
    from hitl_cli.cli.main import main as run

    code = run(sys.argv[1:])
    gc.freeze()  # on its way out Python looks through everything for cycles: 400 ms once the SDK is loaded
    return code


def _told(text: str) -> int:
    """Print this and end the program here: Python's own way out takes a sixth of telling the version. Where it cannot be
    printed (a full disk, a reader that went away) the exit code for that."""
    if sys.stdout is not None:  # closed when the program began
        try:
            print(text, flush=True)
        except OSError as error:
            from hitl_cli.cli.streams import failed

            return failed(error)
    os._exit(0)


def _leave(*_: object) -> None:
    """Until a turn says otherwise a signal ends the program at once: nothing is open that must be put away, and an
    exception out of a signal handler is lost where Python happens to be in a callback."""
    os._exit(130)


if __name__ == "__main__":
    sys.exit(main())
