# SPDX-License-Identifier: GPL-2.0-only
"""Imports the scripts that the tests call."""
import importlib.machinery
import importlib.util


def load(path):
    """A script without an ending, as a module."""
    loader = importlib.machinery.SourceFileLoader(path.name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.name, loader))
    loader.exec_module(module)
    return module
