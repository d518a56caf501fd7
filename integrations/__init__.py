"""Muisti in the frameworks that agents are written in: each module adapts a memory handle to one of them.

Every class takes a handle as `muisti.open`, `muisti.connect` and their asynchronous forms give it. A module imports
its framework, so only what is used must be installed: `pip install muisti[langgraph]`.
"""
