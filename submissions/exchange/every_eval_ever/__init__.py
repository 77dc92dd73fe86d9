"""Every Eval Ever, a shared schema of results (arXiv:2606.14516): write results in it, and read answers."""
