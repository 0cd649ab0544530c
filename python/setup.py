# SPDX-License-Identifier: GPL-2.0-only
"""Names the wheel's platform, which is pfdrive's platform, from WHEEL_PLATFORM."""
import os

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.dist import Distribution


class PlatformWheel(bdist_wheel):
    """pfdrive is static, and the modules are for each Python: only the machine matters."""

    def get_tag(self):
        return "py3", "none", os.environ["WHEEL_PLATFORM"]


class PlatformDistribution(Distribution):
    """A wheel with a program is not pure."""

    def has_ext_modules(self):
        return True


setup(distclass=PlatformDistribution, cmdclass={"bdist_wheel": PlatformWheel})
