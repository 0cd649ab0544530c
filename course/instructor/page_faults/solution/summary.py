# SPDX-License-Identifier: GPL-2.0-only
"""The reference of lab a: mean, standard deviation, median and half-width of the sample on stdin."""
import statistics
import sys

# Student's t for 95 %, two-sided, by degrees of freedom: from any table of the distribution.
T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
     2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
     2.052, 2.048, 2.045, 2.042]

values = [float(line) for line in sys.stdin]
figures = ["n/a"] * 4
if values:
    figures[0] = statistics.fmean(values)
    figures[2] = statistics.median(values)
if len(values) > 1:
    figures[1] = statistics.stdev(values)
    degrees = len(values) - 1
    t = T[degrees - 1] if degrees <= len(T) else 1.96 + 2.5 / degrees
    figures[3] = t * figures[1] / len(values) ** 0.5
print(*figures)
