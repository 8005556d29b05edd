"""An exponential that the CPU computes for many numbers at once."""

from __future__ import annotations

import math

import numpy as np

from compiled import inlined


@inlined
def exp(x):
    """Return e^x for x <= 0 to the last bit or two, in operations that the compiler vectorises.

    e^x = 2^k e^r with |r| <= ln(2) / 2 and the Taylor series of e^r. x below -700 is taken as -700. NaN stays NaN.
    """
    x = -700.0 if x < -700.0 else x
    k = math.floor(x * 1.4426950408889634 + 0.5)
    r = x - k * 0.6931471803691238 - k * 1.9082149292705877e-10
    series = 1.0 / 479001600.0
    series = series * r + 1.0 / 39916800.0
    series = series * r + 1.0 / 3628800.0
    series = series * r + 1.0 / 362880.0
    series = series * r + 1.0 / 40320.0
    series = series * r + 1.0 / 5040.0
    series = series * r + 1.0 / 720.0
    series = series * r + 1.0 / 120.0
    series = series * r + 1.0 / 24.0
    series = series * r + 1.0 / 6.0
    series = series * r + 0.5
    series = series * r + 1.0
    series = series * r + 1.0
    return series * np.int64((np.int64(k) + 1023) << 52).view(np.float64)
