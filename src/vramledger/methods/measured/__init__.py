"""What methods ask of runs that were measured."""
