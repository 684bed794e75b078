"""Results of other load generators as runs: read, translated, held against what they say of themselves."""
