# SPDX-License-Identifier: GPL-2.0-only
"""Runs pfdrive with the arguments of this command: python -m pfstat, and pfdrive of the wheel."""
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
