"""What tries the program itself: training among faults, and a stand-in for a GPU."""
