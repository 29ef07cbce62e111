#!/bin/sh
# SPDX-License-Identifier: MIT
# verify-shard.sh I N LIST RESULTS [OPTION...]: verifies the I-th of N shards of the recordings that LIST names, and leaves the
# results as one file in the folder RESULTS, whole or not at all. A shard whose file is there is done: a job that is run
# again, after nodes died, repeats only what is missing. OPTIONs go to foliot-replay verify.
#
# Exit status: 0 the shard is done, whatever it found (`foliot-replay report` tells); 1 it never will be: wrong arguments, no
# list, no foliot-replay; 75 try again.
set -u
if [ $# -lt 4 ]; then
    echo "usage: verify-shard.sh I N LIST RESULTS [OPTION...]" >&2
    exit 1
fi
index=$1 of=$2 list=$3 results=$4
shift 4
replay=${FOLIOT_REPLAY:-foliot-replay}
command -v "$replay" >/dev/null || { echo "verify-shard.sh: no program $replay" >&2; exit 1; }
[ -r "$list" ] || { echo "verify-shard.sh: $list cannot be read" >&2; exit 1; }
# Another list has other shards.
sum=$(cksum <"$list" | cut -d ' ' -f 1)
mkdir -p "$results" || exit 75
done_file=$results/shard-$sum-$index-of-$of.ndjson
[ -e "$done_file" ] && exit 0
part=$done_file.part-$(hostname)-$$
trap 'rm -f "$part"' EXIT
trap 'exit 75' TERM INT
"$replay" verify --json --shard "$index/$of" --files-from "$list" "$@" >"$part" &
wait $!
code=$?
case $code in
0 | 1 | 3 | 4 | 5 | 6) ;; # every file has its line
2) exit 1 ;;
*) exit 75 ;;
esac
sync "$part" && mv "$part" "$done_file" || exit 75
