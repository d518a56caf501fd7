"""Models of a space that can be exchanged while it is in use.

A space has a model, and may have a second one, its shadow. A task builds the shadow while searches and writes go on:
`building`. Both are asked the same questions: `comparing`. `lifecycle` begins a shadow, exchanges it with the model in
one batch, back again, and drops it. `second_vectors` gives passages the vectors of a model beside that of the space.
"""
