"""A trial as files: our own tables, and what other tools write.

Other tools count from when a request was sent and leave failures out of their percentiles; exports in their formats
do so too. What a format asks for and no trial knows is null, or what that tool writes for nothing where null is forbidden.
"""
