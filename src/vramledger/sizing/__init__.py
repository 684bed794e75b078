"""From a requirement to candidate cards and layouts: what fits first, ranked within a card."""
