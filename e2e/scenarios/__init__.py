"""One scenario per behaviour; a file per topic."""
