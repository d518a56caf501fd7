"""Tasks: work that outlives the request that asked for it, and the process that does it.

A kind of work is a class with a name and a method `run(hold)`. It is registered once, with `Tasks.register`:

    class Ingest:
        name = "ingest"
        crashed = "document.crashed"      # error code of an item on which three processes have crashed

        def run(self, hold: Hold) -> object:
            while group := hold.items():  # at most 16; that work on them begins is committed already
                made = [self._parse(item, hold.read(item.name)) for item in group]
                door = hold.door([ItemOutcome(item.number) for item in group])
                self._writer.add(hold.task.space, made, "keep", Call(now, None, hold.caller, door=door), "$")
            return {"chunks": ...}        # JSON, the result of the task

`hold.door(outcomes, position=…)` is the door in the write path. A write whose `Call` has it commits all of this in one
batch:

- the check that this process still has the task, and that nobody cancelled it,
- the memories,
- the states of the items and the counters,
- a longer lease.

When the check fails, nothing is stored, and the write raises `TaskOver`, which `run` lets pass. A door serves one
batch: its items must be in work, so that no batch counts twice. `hold.commit(…)` takes the same arguments and writes no
memory, for items that failed. Batches that are not written by `core.write` put `door.before` first and `door.after`
last, and turn a refusal into an error with `over(refused)`.

Work without items keeps its own `position`, a text. It goes on at `hold.task.position`. `hold.door(position=…, done=…)`
refuses unless the work is still where it was.

- A process that crashes leaves its items `working`. The next one takes each of them alone. An item on which three
  processes have crashed is `failed` with the code of its kind.
- `hold.check()` raises `Paused` when the process is about to stop and `TaskOver` when the task is over. Call it in long
  work. A thread of the runner prolongs the lease meanwhile; `hold.ended` is an event that it sets.
- `Tasks.submit` makes a task with its items. `Tasks.begin` makes one whose bytes and items come in pieces; it can be
  claimed after `Submission.end`. `hold.read(name)` yields the bytes, on any replica.
- An error of the core ends a task as `failed` with its code; `TaskFailed` does so with a result. When the database was
  not available, another process goes on soon.

The modules:

- `door` is the part of a batch that a write commits for its task.
- `hold` is a claimed task as its work sees it.
- `submitting` makes tasks.
- `tasks` lists, cancels and forgets them.
- `runner` claims and runs them, for threads of the service.
"""
