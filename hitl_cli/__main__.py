"""`python -m hitl_cli`, and what the `hitl` command runs. The version is told before anything heavy is imported."""

import sys


def main() -> int:
    if sys.platform == "win32":
        print("hitl does not run on Windows; use it inside WSL.", file=sys.stderr)
        return 2
    if sys.argv[1:2] == ["--version"]:
        from hitl_cli.version import VERSION

        print(f"hitl {VERSION}")
        return 0
    import gc

    gc.set_threshold(50_000)  # a short command makes little to collect; looking for it took 8 of its 100 ms
    from hitl_cli.cli.main import main as run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
