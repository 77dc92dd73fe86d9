"""From a model's outputs to a result: format, safe reading, checking, parsing, scoring, results."""
