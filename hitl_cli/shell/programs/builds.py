"""Rows to come."""

from hitl_cli.shell.programs.table import Row

PROGRAMS: dict[str, Row] = {}
