"""Examples that run as they are, each with a model that follows a script: no network and no key."""
