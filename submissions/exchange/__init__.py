"""Results in formats of others: evaluation results of the Hub, and Every Eval Ever."""
