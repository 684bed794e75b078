"""What a rented machine is and what state it is in, looked at before a trial."""
