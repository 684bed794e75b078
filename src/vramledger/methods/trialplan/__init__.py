"""Which trials decide a contract, in which order, in how much time; how they are run one after another."""
