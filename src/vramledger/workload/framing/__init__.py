"""How files are cut into records, one file a framing. The table of them is `frame.FRAMERS`."""
