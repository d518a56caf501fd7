"""The pages of the console, one topic a module. `ROUTES` of each module lists its handlers."""
