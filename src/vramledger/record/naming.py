"""The name of a run's folder: when it began and what it is, in letters that every file system takes."""

import re
from datetime import UTC, datetime


def folder_name(began: datetime, name: str) -> str:
    """``2026-12-01T10-00-00Z-contract-qa``; sorts by time. `began` carries its time zone."""
    words = re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")
    return f"{began.astimezone(UTC):%Y-%m-%dT%H-%M-%SZ}-{words or 'run'}"
