"""The metrics page under the names of the rehearsed version."""
