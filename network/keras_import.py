"""The only import of Keras on TensorFlow: its settings are made before it loads, and it prints nothing."""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # 2 still warns of a missing GPU; failures are raised
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

from loggers import quiet_stderr  # noqa: E402

with quiet_stderr():  # TensorFlow prints on import, below every log level
    import keras
    import tensorflow as tf
    from keras import layers, ops

__all__ = ["keras", "layers", "ops", "tf"]
