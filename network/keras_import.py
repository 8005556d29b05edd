"""Imports Keras on TensorFlow, quietly: the one place that does, so that its settings are made before it loads."""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # 2 tells of a GPU that is not there; what fails is raised
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

from loggers import quiet_stderr  # noqa: E402

with quiet_stderr():  # TensorFlow greets on import, below every log level
    import keras
    import tensorflow as tf
    from keras import layers, ops

__all__ = ["keras", "layers", "ops", "tf"]
