"""With all plugins there, a catalogue holds no text that nobody says."""

import pytest

from languages.translate import LANGUAGES, catalogue
from support.texts import texts


@pytest.mark.parametrize("name", [name for name in LANGUAGES if name != "en"])
def test_a_catalogue_holds_no_text_that_nobody_says(name):
    assert sorted(catalogue(name).keys() - texts().keys()) == []
