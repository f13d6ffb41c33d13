#!/usr/bin/env bash
# Feeds every decoder with inputs that libFuzzer makes, each for its share of FUZZ_SECONDS (60), or those that are named.
# What ends a decoder is kept in Tests/Fuzz/Corpus/TARGET/found-...: commit it with the repair, and the replay test
# runs it from then on. What the fuzzer learns stays in .build/fuzz, so that the next run goes on from there.
#
#   Tests/Fuzz/fuzz.sh PROGRAM [TARGET...]      PROGRAM: the tests, built with --sanitize=address --sanitize=fuzzer
set -euo pipefail
program=$(realpath "$1")
shift
cd "$(dirname "$0")/../.."
targets=("$@")
[ $# -gt 0 ] || mapfile -t targets < <(ls Tests/Fuzz/Corpus)
seconds=$(( (${FUZZ_SECONDS:-60} + ${#targets[@]} - 1) / ${#targets[@]} ))
found=0
printf '%-10s %10s %10s %9s %7s %8s  %s\n' target inputs 'per s' edges corpus MiB found
for target in "${targets[@]}"; do
    corpus=.build/fuzz/$target
    seeds=Tests/Fuzz/Corpus/$target
    [ -d "$seeds" ] || { echo "no such target: $target; there are: $(ls Tests/Fuzz/Corpus | tr '\n' ' ')" >&2; exit 2; }
    mkdir -p "$corpus"
    log=.build/fuzz/$target.log
    before=$(find "$seeds" -name 'found-*' | wc -l)
    # An input that takes more than ten seconds, or the memory, is a finding as well.
    arguments="-max_total_time=$seconds -timeout=10 -rss_limit_mb=2048 -max_len=4096 -print_final_stats=1 -use_value_profile=1
        -artifact_prefix=$seeds/found- $corpus $seeds"
    FUZZ_TARGET=$target FUZZ_ARGUMENTS=${arguments//$'\n'/ } ASAN_OPTIONS=detect_leaks=0 \
        timeout -k 10 $((seconds + 60)) "$program" --testing-library swift-testing --filter FuzzRun \
        >"$log" 2>&1 </dev/null && status=0 || status=$?
    stat() { sed -n "s/^stat::$1: *//p" "$log" | tail -1; }
    after=$(find "$seeds" -name 'found-*' | wc -l)
    edges=$(grep -oE 'cov: [0-9]+' "$log" | tail -1 | cut -d ' ' -f 2)
    printf '%-10s %10s %10s %9s %7s %8s  %s\n' "$target" "$(stat number_of_executed_units)" \
        "$(stat average_exec_per_sec)" "${edges:-?}" "$(find "$corpus" -type f | wc -l)" "$(stat peak_rss_mb)" \
        "$((after - before))"
    if [ "$status" -ne 0 ] || [ "$after" -ne "$before" ] || [ -z "$edges" ]; then
        found=1
        echo "  ended with status $status; $log has the whole of it:"
        { grep -m1 -E 'Fatal error|ERROR: |SUMMARY|libFuzzer:' "$log" || tail -3 "$log"; } | cut -c -300 | sed 's/^/  /'
    fi
done
exit $found
