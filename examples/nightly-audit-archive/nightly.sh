#!/bin/sh
# For cron or a scheduled pipeline: keeps new audit events, then reports drift.
# Exit codes: 0 no drift, 3 drift, anything else an error.
set -eu
cd "$(dirname "$0")"

trueup audit archive

code=0
trueup drift --format markdown > drift.md || code=$?
case $code in
  0) echo "no drift" ;;
  3) echo "drift: see drift.md" ;;
  *) cat drift.md ;;
esac
exit "$code"
