"""Questions put to a server by trying loads on it: where its knee is, what one change does."""
