"""This installation as a whole: what Remit guarantees, tried here; its backup and its return."""
