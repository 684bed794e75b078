"""Pieces of records that several formats share."""
