"""Which sizes an iteration plays: by shares, evenly, and the same again."""

from collections import Counter

import games
from support.tiny_runs import tiny
from training.selfplay import Counts
from training.size_plan import PART, SizesPool, game_named, plan, total
from training.worker_pool import RoundSpec

GAME = games.make("gomoku(size=5..8)")


def settings(**changes):
    return tiny(game=GAME.spec, **changes)


def played(config, iterations, run="gomoku/1"):
    """Return how many games each size has in some iterations."""
    found = Counter()
    for iteration in iterations:
        boards = plan(GAME, config, run, iteration)
        ends = [first for first, _ in boards[1:]] + [config.episodes]
        for (first, name), end in zip(boards, ends, strict=True):
            found[name] += end - first
    return [found[each.spec] / sum(found.values()) for each in GAME.sizes]


def test_a_plan_follows_from_the_run_and_the_iteration():
    config = settings(episodes=3 * PART)
    assert plan(GAME, config, "gomoku/1", 5) == plan(GAME, config, "gomoku/1", 5)
    assert any(plan(GAME, config, "gomoku/1", i) != plan(GAME, config, "gomoku/2", i) for i in range(9))
    boards = plan(GAME, config, "gomoku/1", 5)
    assert [first for first, _ in boards] == [0, PART, 2 * PART]
    assert len({name for _, name in boards}) == 3, "the parts of an iteration are spread over the sizes"


def test_few_games_are_all_on_one_board_and_no_iteration_has_more_parts_than_sizes():
    assert len(plan(GAME, settings(episodes=2 * PART - 1), "run", 1)) == 1
    assert len(plan(GAME, settings(episodes=100 * PART), "run", 1)) == 4


def test_a_part_fills_a_gpu_twice():
    config = settings(episodes=4000, games_on_gpu=1000)
    assert [first for first, _ in plan(GAME, config, "run", 1)] == [0, 2000]
    assert len(plan(GAME, settings(episodes=1999, games_on_gpu=1000), "run", 1)) == 1


def test_sizes_come_by_their_shares_within_few_iterations():
    for episodes in (PART, 2 * PART, 3 * PART, 4 * PART):
        assert all(abs(share - 0.25) < 0.05 for share in played(settings(episodes=episodes), range(1, 41))), episodes
        assert all(share > 0.05 for share in played(settings(episodes=episodes), range(7, 17)))
    doubled = played(settings(episodes=PART, size_ratio=2.0), range(1, 301))
    assert all(abs(share - weight / 15) < 0.02 for share, weight in zip(doubled, (1, 2, 4, 8), strict=True))


def test_a_game_is_named_by_its_board():
    assert game_named(GAME, "gomoku(size=6)").grid_shape == (6, 6) and game_named(GAME, "") is GAME


def test_a_pool_of_several_sizes_plays_one_after_the_other_and_counts_all():
    made = []

    class Pool:
        def __init__(self, board):
            self.board, self.work = board, Counts(0, 0, 0, 0, 0, 32, 0.0)
            made.append(board)

        def play(self, spec, games, *, stop):
            assert spec.board == self.board
            self.work = self.work._replace(evaluations=self.work.evaluations + len(games))
            return iter(games)

        def counts(self):
            return self.work

    pool = SizesPool(Pool)
    for board, games_ in (("a", [1, 2]), ("a", [3]), ("b", [4, 5, 6, 7])):
        assert list(pool.play(RoundSpec("run", 1, 0, "", "", board=board), games_)) == games_
    assert made == ["a", "b"] and pool.counts().evaluations == 7 and pool.counts().room == 32
    assert total(Counts(1, 2, 3, 4, 5, 6, 7.0), None) == Counts(1, 2, 3, 4, 5, 6, 7.0)
