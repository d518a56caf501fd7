"""Files of Muisti and of other systems, read and written."""
