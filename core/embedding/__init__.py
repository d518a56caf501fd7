"""Text to vectors, by a static model whose weights are in `weights`."""
