"""`cappunc archive`: collections too large for one process, at paths or URLs, on one machine or a Ray cluster.

`command` lists the inputs and plans; groups of files go to workers in this process or to Ray tasks (`ray_workers`).
The record of results is kept at the target, to which only one run may write (`target_lock`).
"""
