"""Memory stores: the protocol of Anthropic's SDK for memories with paths, over spaces and their memories.

A store is a space, a memory's path is its category and key, and its versions are its history. Paths, bodies and errors
are those that the SDK documents, so they are not in the OpenAPI document.
"""
