"""The ablation of what a network learns: its variants, its table."""

import itertools

from benchmarks import ablation
from config import Config


def test_each_variant_of_the_ablation_is_another_than_the_base_and_the_others():
    settings = [Config(**{**ablation.BASE, **changes}) for changes in ablation.VARIANTS.values()]
    assert all(one != other for one, other in itertools.combinations(settings, 2))
    assert ablation.table([{"variant": "base", **dict.fromkeys(
        ("network", "100 simulations", "400 simulations", "late", "value error", "steps", "games", "processor_seconds"),
        1.0)}]).endswith("| base | 1 | 1.0 | 1.0 | 1.0 | 1.0 | 1.0 | 1 | 1 | 1 |")  # fmt: skip
