"""Models of the pages that ask: from the parameters of a URL to a request, and from its answer to what is drawn."""
