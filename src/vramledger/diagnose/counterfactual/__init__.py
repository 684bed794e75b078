"""The run played again by the simulator with one thing changed: a larger pool, a setting, a card."""
