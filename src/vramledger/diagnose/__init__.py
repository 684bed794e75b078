"""What makes a server slow, from the records of a run: causes ranked, each with what speaks for and against it."""
