"""Intervals and slopes of figures whose neighbours in time are alike: what judging, comparing and repeating share."""
