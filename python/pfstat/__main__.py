# SPDX-License-Identifier: GPL-2.0-only
"""Runs pfdrive with this command's arguments: python -m pfstat, and the wheel's pfdrive."""
from __future__ import annotations

import os
import sys

from .program import PfdriveError, pfdrive


def main() -> None:
    try:
        os.execv(pfdrive(), ["pfdrive", *sys.argv[1:]])
    except PfdriveError as error:
        sys.exit(f"pfstat: {error}")


if __name__ == "__main__":
    main()
