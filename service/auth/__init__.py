"""Who calls: keys, tokens, host names, limits, and the middleware that checks them."""
