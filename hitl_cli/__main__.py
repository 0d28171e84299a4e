"""`python -m hitl_cli`, and what the `hitl` command runs. The version is told before anything heavy is imported."""

import os
import signal
import sys


def main() -> int:
    if sys.platform == "win32":
        print("hitl does not run on Windows; use it inside WSL.", file=sys.stderr)
        return 2
    if sys.argv[1:2] == ["--version"]:
        from hitl_cli.version import VERSION

        print(f"hitl {VERSION}")
        return 0
    if "_HITL_COMPLETE" in os.environ or sys.argv[1:2] in (["--show-completion"], ["--install-completion"]):
        from hitl_cli.cli.complete import door

        return door(sys.argv[1:])
    import gc

    gc.set_threshold(50_000)  # a short command makes little to collect; looking for it took 8 of its 100 ms
    try:
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, signal.default_int_handler)  # as Ctrl-C: everything is put away, then 130
        from hitl_cli.cli.main import main as run

        return run(sys.argv[1:])
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
