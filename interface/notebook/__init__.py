"""What run.ipynb shows: a run while it trains, tables, boards to play on; plain where no plugin draws them."""
