"""Archives: more files than one process does, from where they lie, on one machine or on a Ray cluster.

The driver lists what there is (`work_plan`), cuts it into blocks and hands them to workers (`block_worker`), in this
process or as Ray's actors (`ray_workers`); a worker does with a block what `processing` does with a few files. What is
done stands beside the results (`ledger`), where one driver alone may write (`target_lock`).
"""
