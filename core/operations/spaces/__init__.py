"""Operations on whole spaces: create, fork, merge, mark with checkpoints, roll back, erase."""
