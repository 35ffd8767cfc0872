"""`make rehearse`: the installation by its documents alone, in a fresh Debian root.

Needed: root, debootstrap, unshare, and a network for the downloads. No part of the machine is
touched: what is started lives in name spaces of its own and ends with them. `REHEARSAL_FROM_HOST`
names files and folders, `FROM=TO` by blanks, that the root needs to reach its package indexes, and
`REHEARSAL_ENVIRONMENT` variables for the same.
"""
