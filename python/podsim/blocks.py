# Every block of the scenario language as a class of its own.
"""Blocks of scenarios by the names of the schema: ``blocks.JobChoice``, ``blocks.ClusterChoice``, ``blocks.Adversity``, ..."""

from podsim._blocks import _schema, block_class


def __getattr__(name):
    found = None if name.startswith("_") else block_class(name)
    if found is None:
        raise AttributeError(f'the scenario language has no block "{name}"')
    return found


def __dir__():
    return sorted(_schema())
