"""What a person can do about a store that failed."""

from __future__ import annotations


def remedy(problem: str) -> str:
    """In words, for what SQLite or the system said."""
    if "File exists" in problem or "Not a directory" in problem:
        return "A file stands where a folder should be: move it away, or name another store with --store or HITL_STORE."
    if "locked" in problem:
        return (
            "Another program holds it; try again when that is done. A stopped hitl holds it until it goes on or ends."
        )
    if "full" in problem or "No space" in problem:
        return "Make room on that disk; what was stored before is kept."
    if "disk I/O" in problem:  # what SQLite says where not even its small file beside the store has room
        return "Make room on that disk if it is full, else look after it; what was stored before is kept."
    if "readonly" in problem or "read-only" in problem or "ermission" in problem:
        return "Make it writable, or name another one with --store or HITL_STORE."
    if "malformed" in problem or "not a database" in problem:
        return "Move the file away to begin a new store, or restore it from a copy."
    return "Name another store with --store or HITL_STORE to go on without it."
