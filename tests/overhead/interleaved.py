# SPDX-License-Identifier: GPL-2.0-only
"""Rounds under an instrument, interleaved with rounds without it, and their statistics.

A block is bare, under the instrument, under it, bare again (ABBA), so a slow drift affects both
alike, and the block yields one difference. The result is the median block difference with a
confidence interval from order statistics, which assumes nothing about the distribution: the k-th
smallest and the k-th largest of n enclose the median with the probability that a fair coin, tossed
n times, shows heads k to n - k times."""
import collections
import math
import statistics

CONFIDENCE = 0.95
# With fewer blocks even the widest interval, over all of them, does not reach 95 %.
MIN_BLOCKS = 6

Interval = collections.namedtuple("Interval", "median low high")
Block = collections.namedtuple("Block", "bare watched")


def rank(count):
    """The largest k for which the k-th smallest and the k-th largest enclose the median."""
    outside = 0.0
    for k in range(count):
        outside += 2 * math.comb(count, k) / 2 ** count
        if outside > 1 - CONFIDENCE:
            return k
    return 0


def interval(values):
    values = sorted(values)
    k = rank(len(values))
    if k < 1:
        raise ValueError(f"{len(values)} values are too few for {CONFIDENCE:.0%}")
    return Interval(statistics.median(values), values[k - 1], values[-k])


def added(blocks):
    """The time added by the instrument, in the blocks' unit."""
    return interval([block.watched - block.bare for block in blocks])


def share(blocks):
    """The same, relative to each block's bare time."""
    return interval([(block.watched - block.bare) / block.bare for block in blocks])


def drift(blocks):
    """Bare time drift: the last third of the blocks compared with the first third."""
    third = max(len(blocks) // 3, 1)
    first = statistics.median(block.bare for block in blocks[:third])
    last = statistics.median(block.bare for block in blocks[-third:])
    return (last - first) / first


def noise(blocks):
    """Bare round spread: half the rounds are nearer to the median than this."""
    bare = [block.bare for block in blocks]
    middle = statistics.median(bare)
    return statistics.median(abs(value - middle) for value in bare) / middle


def doubts(blocks):
    """Reasons, as sentences, why the figures are less certain."""
    said = []
    if abs(drift(blocks)) > 0.03:
        said.append(f"the bare rounds drift: by {drift(blocks):+.1%} from the first third of "
                    "them to the last one")
    if noise(blocks) > 0.03:
        said.append(f"the bare rounds differ: half of them by more than {noise(blocks):.1%}")
    low_to_high = added(blocks)
    if low_to_high.low <= 0 <= low_to_high.high:
        said.append("what is added cannot be told from 0")
    return said
