"""Real processes, real kubectl: what the end-to-end scenarios are made of."""
