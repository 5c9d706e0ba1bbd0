"""What the thresholds of `Settings` are worth: labelled pairs and questions, published bullets, sweeps and rules."""
