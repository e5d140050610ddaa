"""A small batch system for the processes of this host: the queue behind the driver `local`.

pools, waiting   what fits, and what starts next (pure)
store            what must survive kill -9, in SQLite
processes        start, find again, signal and sweep the jobs
running          one job under way and its deadlines
scratch          a directory for each of them
features         those in which it finds what it may use, and until when
place            where these directories are
engine           the life of a job, from submission to history
requests, server what a client may say, and the unix socket it is said on
daemon           the loop
client           what a driver runs; one file that imports next to nothing, so that it takes 13 ms
command          the same in words, for people
"""
