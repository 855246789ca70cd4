"""From a model's last word to what a person is given: citations bound, claims held against the
records, a review, or handing over to a person."""
