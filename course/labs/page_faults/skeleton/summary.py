# SPDX-License-Identifier: GPL-2.0-only
"""summary.py: reads numbers from standard input, one each line; prints

    MEAN STANDARD_DEVIATION MEDIAN HALF_WIDTH

of a sample: the standard deviation has n - 1 in the denominator, and HALF_WIDTH is that of the 95 %
confidence interval of the mean by Student's t. What cannot be computed is n/a.
"""
# TODO
