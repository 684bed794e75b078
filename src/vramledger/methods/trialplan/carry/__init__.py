"""A file of trials carried out, one after another, unattended and resumable."""
