#!/usr/bin/env python3
"""Golden values of crates/workload/src/statistics, from scipy.

Run by hand when a test of that room needs another value:
    python3 -m venv env && env/bin/pip install scipy && env/bin/python xtask/golden/statistics.py
"""

import numpy
from scipy import stats

print("Student's quantiles: freedom, at 0.975, at 0.9995")
for freedom in (1, 4, 9, 7.3, 1e9):
    print(freedom, stats.t.ppf(0.975, freedom), stats.t.ppf(0.9995, freedom))

print("Welch's test: t, freedom, p")
a = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9]
b = [27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0]
test = stats.ttest_ind(b, a, equal_var=False)
print(test.statistic, test.df, test.pvalue)


def power(pairs, effect, alarm=0.05):
    freedom = pairs - 1
    bound = stats.t.ppf(1 - alarm / 2, freedom)
    return stats.nct.sf(bound, freedom, effect * numpy.sqrt(pairs))


print("Pairs for a power of 0.8: effect in standard deviations, pairs")
for effect in (1.0, 0.5, 0.2):
    print(effect, next(n for n in range(2, 10_000) if power(n, effect) >= 0.8))

print("Share of series whose cut of the greatest likelihood is within two of the change")
random = numpy.random.default_rng(1)
length, change, near, series = 60, 40, 0, 4000
cuts = numpy.arange(3, length - 2)
for _ in range(series):
    values = random.normal(1, 0.02, length)
    values[change:] *= 1.03
    sums = numpy.cumsum(values)
    before = sums[cuts - 1] / cuts
    after = (sums[-1] - sums[cuts - 1]) / (length - cuts)
    between = cuts * (length - cuts) / length * (before - after) ** 2
    near += abs(cuts[numpy.argmax(between)] - change) <= 2
print(near / series)

print("Skewness and excess kurtosis of a sample")
values = [1, 2, 2, 3, 5, 9]
print(stats.skew(values, bias=False), stats.kurtosis(values, bias=False))


def place_weights(values, side_min=3):
    """How probable each place of a change is (Smith 1975); by the number of values before it."""
    values = numpy.asarray(values)
    count = len(values)
    logarithms = {}
    for at in range(side_min, count - side_min + 1):
        before, after = values[:at], values[at:]
        within = ((before - before.mean()) ** 2).sum() + ((after - after.mean()) ** 2).sum()
        logarithms[at] = -0.5 * numpy.log(at * (count - at)) - (count - 2) / 2 * numpy.log(within)
    most = max(logarithms.values())
    weights = {at: numpy.exp(logarithm - most) for at, logarithm in logarithms.items()}
    whole = sum(weights.values())
    return {at: weight / whole for at, weight in weights.items()}


def place_range(values):
    """From the first to the last of the most probable places that hold 95 %."""
    held, places = 0.0, []
    for at, weight in sorted(place_weights(values).items(), key=lambda place: -place[1]):
        held += weight
        places.append(at)
        if held >= 0.95:
            break
    return min(places), max(places)


print("Places of a change: weights, range")
values = [0.1, -0.4, 0.6, 0.2, -0.3, 1.1, 1.9, 1.2, 0.7, 1.5]
print(place_weights(values), place_range(values))
held, series = 0, 4000
for _ in range(series):
    values = random.normal(1, 0.02, length)
    values[change:] *= 1.03
    first, last = place_range(numpy.log(values))
    held += first <= change <= last
print("Share of series whose range holds the place:", held / series)

print("Yuen's test, one value left out at each end: t, freedom, p; trimmed means")
a = [0.5, -1.2, 0.3, 9.0, 0.8, -0.4, 1.1, 0.2]
b = [1.9, 0.7, 2.4, 1.1, 0.3, 1.6, 2.2, 1.4, -7.0, 1.2]
test = stats.ttest_ind(b, a, equal_var=False, trim=0.125)
print(test.statistic, test.df, test.pvalue, stats.trim_mean(a, 0.125), stats.trim_mean(b, 0.125))

print("Weighted least squares: slope, intercept, their standard errors, half of the slope's interval")
x = numpy.array([0.0, 0.0, 1000.0, 2000.0, 2000.0, 4000.0])
y = numpy.array([310.0, 290.0, 5290.0, 10320.0, 10270.0, 20330.0])
w = numpy.array([3.0, 1.0, 2.0, 1.0, 0.5, 4.0])
design = numpy.column_stack([x, numpy.ones_like(x)])
root = numpy.sqrt(w)
solution, _, _, _ = numpy.linalg.lstsq(design * root[:, None], y * root, rcond=None)
residuals = (y - design @ solution) * root
variance = residuals @ residuals / (len(x) - 2)
errors = numpy.sqrt(numpy.diag(variance * numpy.linalg.inv(design.T @ (design * w[:, None]))))
print(*solution, *errors, stats.t.ppf(0.975, len(x) - 2) * errors[0])
