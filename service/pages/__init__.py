"""Pages of the console that have no room, one topic a module, and the application with all pages."""
