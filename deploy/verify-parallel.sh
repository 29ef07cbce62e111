#!/bin/sh
# SPDX-License-Identifier: MIT
# verify-parallel.sh SHARDS LIST RESULTS: verifies the recordings that LIST names by GNU parallel, on this machine or, with
# PARALLEL='--sshlogin host1,host2' (see parallel(1)), on several that see the same files. Run it again after an
# interruption: only what is missing is done.
set -eu
[ $# = 3 ] || { echo "usage: verify-parallel.sh SHARDS LIST RESULTS" >&2; exit 1; }
here=$(cd "$(dirname "$0")" && pwd)
seq "$1" | parallel --will-cite --retries 3 --halt never "$here/verify-shard.sh" {} "$1" "$2" "$3" --jobs 1
