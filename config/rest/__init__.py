"""What all operations of the API share: one shape for errors, and one place that documents them."""
