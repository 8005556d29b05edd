"""What the cluster adds to the program: options of the commands whose games other machines can play."""

from system.plugins import Plugin

PLUGIN = Plugin(
    about="Self-play and matches on the machines of a Ray cluster.",
    extra="cluster",
    options={
        "train": "options:TrainOnCluster",
        "match": "options:MatchOnCluster",
        "evaluate": "options:EvaluateOnCluster",
    },
)
