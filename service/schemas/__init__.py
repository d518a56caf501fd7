"""Types of the bodies that the HTTP API reads and writes: the OpenAPI document is made from them."""
