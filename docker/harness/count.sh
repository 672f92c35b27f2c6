#!/bin/sh
# kervyxa-count SOURCE COMMAND [ARGUMENT…]: counts the work of COMMAND and prints one line, KERVYXA_COUNT={…}.
# What an image can't count ends with 127, as a command that is not there: the fault of no solver.
folder=/usr/local/lib/kervyxa
source=${1-}

case $source in
  node_block_count | node_peak_heap_bytes)
    program=/usr/local/bin/node
    [ -x "$program" ] && exec "$program" --disable-sigusr1 "$folder/node/count.cjs" "$@"
    ;;
  python_opcode_count | python_peak_bytes | instructions)
    program=/usr/bin/python3
    [ -x "$program" ] && exec "$program" -I -S "$folder/python/count.py" "$@"
    ;;
esac
echo "kervyxa-count: this image can't count ${source:-without a source}" >&2
exit 127
