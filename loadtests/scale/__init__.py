"""Cost of many tenants, and the limits of one large tenant: measured constants, a model of them, a simulation."""
