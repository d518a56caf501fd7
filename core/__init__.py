"""The search core and the store of Muisti: synchronous, without HTTP, environment or clock of its own."""
