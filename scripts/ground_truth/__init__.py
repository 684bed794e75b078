"""Runs of servers with a known cause of trouble, made by the simulator and what lies around an engine, to hold the diagnosis against."""
