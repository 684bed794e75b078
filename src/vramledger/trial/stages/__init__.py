"""What a gateway or an engine tells of the stages of each request, put on the run's clock."""
