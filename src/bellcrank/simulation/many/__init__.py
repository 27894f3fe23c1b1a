"""Many runs of one model at once: what varies from run to run, how they are driven, and what is
kept of them."""
