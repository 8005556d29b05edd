"""The loop plays its games in the order that ends soonest."""

from initialise import Session
from support.tiny_runs import QUIET, tiny
from training.selfplay import longest_first
from training.stage_bookkeeping import begin
from training.stages import play_self
from training.work import source_of


def test_the_loop_plays_in_this_order(tmp_path):
    asked = []

    class Listening:
        def __init__(self, pool):
            self._pool, self.counts, self.close = pool, pool.counts, pool.close

        def play(self, order, games, **options):
            asked.append((order, list(games)))
            return self._pool.play(order, games, **options)

    config = tiny(random_opening_share=0.5, random_opening_plies=4)
    with Session.start(config, root=tmp_path, console=QUIET) as session:
        source_of(session)._pool = Listening(source_of(session).pool)
        begin(session)
        play_self(session)
    ((order, games),) = asked
    assert games == longest_first(config, order.run, 1, range(config.episodes)) != list(range(config.episodes))
