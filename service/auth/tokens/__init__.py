"""Bearer tokens of an issuer that the operator names (JWT): a token opens what its claims say, as a key would.

`source` reads the issuer's keys, `keyset` understands them, `keys` remembers them, `claims` turns what a token says
into a grant, and `verify` puts these together.
"""
