"""What many tenants cost, and where one large tenant breaks: measured constants, a model of them, a simulation."""
