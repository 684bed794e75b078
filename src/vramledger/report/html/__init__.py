"""What every page shares: its frame, figures, tables and script; nothing is loaded from anywhere."""
