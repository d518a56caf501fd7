"""Parts of HTTP below Litestar: bodies, headers, compression, CORS, answers as bytes."""
