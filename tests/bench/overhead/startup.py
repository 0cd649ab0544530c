# SPDX-License-Identifier: GPL-2.0-only
"""How long it takes until pfstat measures."""


def measure(_):
    return {}


def show(_):
    pass
