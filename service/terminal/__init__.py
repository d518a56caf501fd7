"""Frame of commands: options, the session with a client, output. It knows no command and no application."""
