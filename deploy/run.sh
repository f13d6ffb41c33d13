#!/usr/bin/env bash
# Starts the whole system on free ports, does a real job on a real document, then gives a prompt. What `make run` calls.
#
#   deploy/run.sh [--no-prompt] [--bin FOLDER] [--state FOLDER]
#
# Without a terminal, or with --no-prompt, it ends after the job: with 0 if the job was done. Everything it started is
# stopped again, whatever happens. The state folder is a temporary one unless --state names another.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
bin=$root/.build/release
state=
prompt=yes
[ -t 0 ] && [ -t 1 ] || prompt=no
while [ $# -gt 0 ]; do
    case $1 in
    --no-prompt) prompt=no ;;
    --bin) bin=${2:?--bin needs a folder}; shift ;;
    --state) state=${2:?--state needs a folder}; shift ;;
    *) sed -n '2,7p' "$0" | sed 's/^# \{0,1\}//'; exit 2 ;;
    esac
    shift
done
[ -x "$bin/skillbus" ] || { echo "no skillbus in $bin; \`make build\` puts it there" >&2; exit 1; }

work=$(mktemp -d "${TMPDIR:-/tmp}/skillbus-run.XXXXXX")
system=
stop() {
    trap '' INT TERM HUP
    trap - EXIT
    if [ -n "$system" ] && kill -TERM "$system" 2>/dev/null; then
        # It drains; after its own limit for that nothing should be left to kill.
        for _ in $(seq 300); do kill -0 "$system" 2>/dev/null || break; sleep 0.1; done
        kill -KILL -- "-$system" 2>/dev/null || true
        wait "$system" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# In a session of its own: Ctrl-C at the prompt cancels a request and must not stop the system under it.
setsid "$bin/skillbus" up --http 127.0.0.1:0 --state "${state:-$work/state}" --ready-file "$work/ready" \
    >"$work/log" 2>&1 </dev/null &
system=$!
for _ in $(seq 300); do
    [ -s "$work/ready" ] && break
    kill -0 "$system" 2>/dev/null || break
    sleep 0.1
done
if [ ! -s "$work/ready" ]; then
    echo "the system did not start; its log ends with:" >&2
    tail -n 30 "$work/log" >&2
    exit 1
fi
SKILLBUS_URL=$(sed -n 's/.*"url" *: *"\([^"]*\)".*/\1/p' "$work/ready" | sed 's|\\/|/|g')
export SKILLBUS_URL

# show_states: one line for each event of a request, as it comes.
show_states() {
    local line rest type skill message
    while IFS= read -r line; do
        type='' skill='' message=''
        [[ $line =~ \"session\":\"([^\"]*)\" ]] && echo "${BASH_REMATCH[1]}" >"$work/session"
        [[ $line =~ \"type\":\"([^\"]*)\" ]] && type=${BASH_REMATCH[1]}
        [[ $line =~ \"skill\":\"([^\"]*)\" ]] && skill=${BASH_REMATCH[1]}
        # The whole text, its lines as one: the last there is, for the parts of a result come before it.
        [[ $line =~ .*\"(message|text)\":\"(([^\"\\]|\\.)*)\" ]] && message=${BASH_REMATCH[2]//\\n\\n/\\n}
        message=${message//\\n/; }
        message=${message//\\\"/\"}
        message=${message%; }
        if [ "$type" = request.plan ]; then
            # Every step, in the order of the plan.
            skill='' rest=$line
            while [[ $rest =~ \"skill\":\"([^\"]*)\"(.*) ]]; do
                message+=${message:+, }${BASH_REMATCH[1]} rest=${BASH_REMATCH[2]}
            done
        fi
        printf '  %-17s %-10s %.80s\n' "$type" "$skill" "$message"
    done
}

article=$root/docs/samples/article-en.md
question="Summarize this article and extract its keywords"
echo "Skillbus is up at $SKILLBUS_URL: a router, a gateway and one process per skill."
echo
"$bin/skillbus" skills
echo
printf '$ skillbus ask --file %s "%s"\n\n' "${article#"$root"/}" "$question"
if [ -t 1 ]; then
    "$bin/skillbus" ask --file "$article" "$question"
else
    # Without a terminal `ask` prints the answer alone. Here each state is to be seen as it comes, then the answer.
    "$bin/skillbus" ask --json --file "$article" "$question" | show_states
    echo
    "$bin/skillbus" resume "$(cat "$work/session")"
fi
echo

if [ $prompt = yes ]; then
    echo "Your turn. For example: what is 0.1 + 0.2, to 30 places (Ctrl-D leaves)"
    # Ctrl-C belongs to the conversation. However that ends, the job above was done.
    trap : INT
    "$bin/skillbus" chat || true
fi
