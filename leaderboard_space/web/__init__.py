"""What stands between a request and a page: who asks, the guard, kept answers, uploads and refusals."""
