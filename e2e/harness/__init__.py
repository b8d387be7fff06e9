"""The parts of end-to-end scenarios: real processes, real kubectl."""
