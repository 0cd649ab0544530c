# SPDX-License-Identifier: GPL-2.0-only
import sys

pages, window = int(sys.argv[1]), int(sys.argv[2])
print(pages // window)
