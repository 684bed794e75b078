"""The ledger: model x hardware x engine becomes an account per rank. Only this says what fits."""
