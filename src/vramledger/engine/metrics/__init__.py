"""What serving engines show on their metrics pages, and one vocabulary for all of them."""
