"""What a notebook shows: a run as it learns, boards to look at and to click on."""
