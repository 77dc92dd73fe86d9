"""Between request and page: identity, limits, cached answers, uploads and errors."""
