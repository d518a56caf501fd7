"""Metrics in the format of Prometheus.

The modules named `meters` count, and do not depend on this package. `scrape` answers, `peers` asks the other workers.
`families` and `exposition` need the library and are loaded by the first scrape.
"""
