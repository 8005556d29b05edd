"""Evaluations averaged over the symmetries of the board."""

from __future__ import annotations

import numpy as np

from game import Game
from network.predictor import Predictor


class AveragedPredictor:
    """Averages another predictor's evaluations of every symmetry of a position.

    A board and its mirror image get the same evaluation. Logits are averaged, so the priors are the normalised
    geometric mean.
    """

    def __init__(self, predictor: Predictor, game: Game) -> None:
        self._predictor = predictor
        self._grids, actions = game.views()
        self._back = np.argsort(actions, axis=1)
        self.name = f"{predictor.name}, mean of {len(actions)} symmetries"

    def load(self, weights: list[np.ndarray]) -> None:
        """Use these weights from now on."""
        self._predictor.load(weights)

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate planes [B, rows, columns, planes]: values [B], logits [B, action_size]."""
        count, forms = len(planes), len(self._grids)
        boards = np.asarray(planes).reshape(count, self._grids.shape[1], -1)[:, self._grids]
        values, logits = self._predictor(boards.reshape(count * forms, *planes.shape[1:]))
        turned = logits.reshape(count, forms, -1)
        logits = np.take_along_axis(turned, self._back[None], axis=2).mean(axis=1)
        return values.reshape(count, forms).mean(axis=1), logits
