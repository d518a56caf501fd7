"""What Muisti counts, told to Prometheus.

Counting is done elsewhere (in the modules `meters`) and knows nothing of this. `scrape` answers, `peers` asks
the other workers, and `families` and `exposition`, which need the library, are loaded by the first scrape.
"""
