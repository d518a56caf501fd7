"""Build backend of `muisti` and `muisti-client`: setuptools, after the generated part of the client is written."""

from setuptools.build_meta import *  # noqa: F403

from generate import write

write()
