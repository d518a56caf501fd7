"""Tasks: work that outlives the request that asked for it, and the process that does it.

A kind of work is a class with a name and a method `run(claim)`. It is one line in `core.assembly.parts.kinds`:

    class Ingest:
        name = "ingest"
        crashed = "document.crashed"      # error code of an item on which three processes have crashed

        def run(self, claim: Claim) -> object:
            while group := claim.items():  # at most 16; that work on them begins is committed already
                made = [self._parse(item, claim.read(item.name)) for item in group]
                fenced = claim.fenced([ItemOutcome(item.number) for item in group])
                self._writer.add(claim.task.space, made, "keep", Call(now, None, claim.caller, fenced=fenced), "$")
            return {"chunks": ...}        # JSON, the result of the task

`claim.fenced(outcomes, position=…)` is a fenced commit. A write whose `Call` has it commits all of this in one batch:

- the check that this process still has the task, and that nobody cancelled it,
- the memories,
- the states of the items and the counters,
- a longer lease.

When the check fails, nothing is stored, and the write raises `TaskOver`, which `run` lets pass. A fenced commit serves
one batch: its items must be in work, so that no batch counts twice. `claim.commit(…)` takes the same arguments and
writes no memory, for items that failed. Batches that are not written by `core.write` put `fenced.before` first and
`fenced.after` last, and turn a refusal into an error with `over(refused)`.

Work without items keeps its own `position`, a text. It goes on at `claim.task.position`. A batch with
`claim.fenced(position=…, done=…)` is refused unless the work is still where it was.

- A process that crashes leaves its items `working`. The next one takes each of them alone. An item on which three
  processes have crashed is `failed` with the code of its kind.
- `claim.check()` raises `Paused` when the process is about to stop and `TaskOver` when the task is over. Call it in
  long work. A thread of the runner prolongs the lease meanwhile; `claim.ended` is an event that it sets.
- `Tasks.submit` makes a task with its items. `Tasks.begin` makes one whose bytes and items come in pieces; it can be
  claimed after `Submission.end`. `claim.read(name)` yields the bytes, on any replica.
- An error of the core ends a task as `failed` with its code; `TaskFailed` does so with a result. When the database was
  not available, another process goes on soon.

The modules:

- `fenced_commit` is the part of a batch that a write commits for its task.
- `claim` is a claimed task as its work sees it.
- `submitting` makes tasks.
- `tasks` lists, cancels and forgets them.
- `runner` claims and runs them, for threads of the service.
"""
