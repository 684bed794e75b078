"""The simulated engine in real time: its clock, its wake-ups, who is served."""
