"""`python -m hitl_cli`, and what the `hitl` command runs. The version is told before anything heavy is imported."""

import sys


def main() -> int:
    if sys.platform == "win32":
        print("hitl does not run on Windows; use it inside WSL.", file=sys.stderr)
        return 2
    if sys.argv[1:] == ["--version"]:
        from hitl_cli.version import VERSION

        print(f"hitl {VERSION}")
        return 0
    from hitl_cli.cli.main import main as run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
