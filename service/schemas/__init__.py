"""What the HTTP API reads and writes, as types: the OpenAPI document is made from them."""
