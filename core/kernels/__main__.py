from core.kernels import bake

bake()
