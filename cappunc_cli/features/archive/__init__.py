"""Archives: collections too large for one process, at local paths or URLs, on one machine or a Ray cluster.

The driver lists the inputs, divides them into blocks (`work_plan`) and submits these to workers (`block_worker`) in
this process or in Ray actors (`ray_workers`). A worker does with a block what `processing` does with a group of files.
The `ledger` of results is kept at the target, to which only one driver may write (`target_lock`).
"""
