"""Requests and answers of the HTTP API: decoding, parameters, headers, request middleware."""
