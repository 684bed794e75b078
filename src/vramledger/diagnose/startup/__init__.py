"""Why a server did not start, or stopped, from its log alone: the cause, its arithmetic and the smallest change."""
