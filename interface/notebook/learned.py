"""What the versions of a run have learned, as a list of sentences."""

from __future__ import annotations

from html import escape

from evaluation.milestones import chosen_versions, in_words, milestones, probes, shares
from initialise import Session
from interface.notebook.early import EarlyVersions
from languages.translate import tr


class Milestones:
    """What the versions of a run have learned, in words; see `evaluation/milestones.py`."""

    def __init__(self, session: Session | EarlyVersions, most: int = 20) -> None:
        """Look at `most` versions at most."""
        asked, numbers = probes(session.game), [row.version for row in session.store.versions()]
        looked_at = chosen_versions(numbers, most)
        found = {number: shares(session.agent(number, role="look", sims=1), asked) for number in looked_at}
        self.lines = [in_words(milestone, looked_at[0]) for milestone in milestones(found)] or [tr("none yet")]

    def __repr__(self) -> str:
        return "\n".join(self.lines)

    def _repr_html_(self) -> str:
        return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in self.lines) + "</ul>"
