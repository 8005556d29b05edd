"""How xdist gives files of tests to its processes: those that mostly wait have a process of their own.

Their programs need time and hardly a core: a limit of a protocol, a cluster that starts, children that are killed. So
one process more than what computes runs them, and ends when they are done.
"""

import os

from xdist.scheduler import LoadFileScheduling

WAITING = (
    "test_cluster",
    "test_kills",
    "test_stops",
    "test_crash_images",
    "test_gomocup",
    "test_cluster_handle",
    "test_notebook_live",
)
"""Files whose tests use less than half of a core."""
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def waits(scope):
    """Return whether a file, by its path from the top, is one of those."""
    return scope.rpartition("/")[2].removesuffix(".py") in WAITING


class Lanes(LoadFileScheduling):
    """Whole files, in the order of the collection; one of the processes takes those that wait, and then ends."""

    patient = None
    """The process for files that wait; None unless tests/run.sh has started two more than there are cores."""

    def schedule(self):
        if self.collection is None and len(self.nodes) >= CORES + 2:
            self.patient = self.nodes[-1]
        super().schedule()

    def _assign_work_unit(self, node):
        suits = (scope for scope in self.workqueue if waits(scope) == (node is self.patient))
        if self.patient is not None and (scope := next(suits, None)):
            self.workqueue.move_to_end(scope, last=False)
        super()._assign_work_unit(node)

    def _reschedule(self, node):
        if node is self.patient and not node.shutting_down and not any(map(waits, self.workqueue)):
            node.shutdown()  # after what it has been given
        else:
            super()._reschedule(node)
