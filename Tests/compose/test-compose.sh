#!/usr/bin/env bash
# docker-compose.yml on a real container engine: it builds, comes up healthy with three workers of one skill, answers,
# shares the load, heals after a killed worker and a restarted router, drains when told to stop, and asks a model with
# deploy/compose.models.yml.
#
# Where no engine can be started it says so in one line and succeeds. Needs no fixed port and no name of its own on the
# engine; everything is removed at the end, and an engine that was started for the test is stopped.
#
#   SKILLBUS_BIN       folder with the host's `skillbus`; default .build/release, else .build/debug, else the gateway's
#   KEEP_LOGS=FILE     write the containers' logs there when a check fails (default .build/compose.log)
set -euo pipefail

cd "$(dirname "$0")/../.."
engine=Tests/compose/engine.sh
work=$(mktemp -d)
export COMPOSE_PROJECT_NAME="skillbus-test-$$"
export COMPOSE_PROGRESS=plain
engine_is_ours=no
model=
up=no
passed=0
failed=0

pass() { passed=$((passed + 1)); printf 'ok    %s\n' "$*"; }
fail() { failed=$((failed + 1)); printf 'FAIL  %s\n' "$*"; }

# check NAME COMMAND...: the command's output is shown only if it fails.
check() {
    local name=$1
    shift
    if "$@" >"$work/check" 2>&1; then pass "$name"; else
        fail "$name"
        sed 's/^/      /' "$work/check" | tail -n 20
    fi
}

# eventually SECONDS COMMAND...: asks again until the command succeeds or the time is over.
eventually() {
    local end=$((SECONDS + $1))
    shift
    until "$@" >"$work/eventually" 2>&1; do
        [ $SECONDS -lt $end ] || { cat "$work/eventually"; return 1; }
        sleep 0.3
    done
}

finish() {
    local status=$?
    trap - EXIT
    trap '' INT TERM
    if [ $up = yes ]; then
        if [ $failed -gt 0 ] || [ $status -ne 0 ]; then
            mkdir -p .build
            docker compose ps --all >"${KEEP_LOGS:-.build/compose.log}" 2>&1 || true
            docker compose logs >>"${KEEP_LOGS:-.build/compose.log}" 2>&1 || true
            echo "the containers' logs: ${KEEP_LOGS:-.build/compose.log}"
        fi
        docker compose down --volumes --timeout 20 >/dev/null 2>&1 || true
    fi
    if [ -n "$model" ]; then
        kill "$model" 2>/dev/null || true
        wait "$model" 2>/dev/null || true
    fi
    [ $engine_is_ours = yes ] && $engine stop
    rm -rf "$work"
    [ $status -eq 0 ] || fail "ended early, with status $status"
    printf '%d passed, %d failed\n' $passed $failed
    [ $failed -eq 0 ]
    exit
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# --- an engine

docker version >/dev/null 2>&1 || engine_is_ours=yes
if ! $engine up 2>"$work/engine"; then
    engine_is_ours=no
    $engine stop >/dev/null 2>&1 || true
    trap - EXIT
    echo "test-compose: skipped: $(tail -n 1 "$work/engine")"
    rm -rf "$work"
    exit 0
fi

# --- build and start

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
SKILLBUS_PORT=$(free_port)
export SKILLBUS_PORT
url=http://127.0.0.1:$SKILLBUS_PORT

check "docker-compose.yml is valid" docker compose config --quiet
start=$SECONDS
# All services name the same image: building one of them builds it for all.
docker compose build router >"$work/build" 2>&1 || { tail -n 40 "$work/build"; exit 1; }
pass "the image builds ($((SECONDS - start)) s)"

up=yes
start=$SECONDS
if docker compose up --detach --no-build --wait --wait-timeout 120 --scale summarize=3 >"$work/up" 2>&1; then
    pass "everything is healthy, with three workers of summarize ($((SECONDS - start)) s)"
else
    tail -n 20 "$work/up"
    docker compose ps --all
    exit 1
fi

# --- ask, from the host, through the published port

skillbus() { docker compose exec -T -e SKILLBUS_URL=http://127.0.0.1:8080 gateway skillbus "$@"; }
where="the gateway's container"
for folder in "${SKILLBUS_BIN:-}" .build/release .build/debug; do
    if [ -n "$folder" ] && [ -x "$folder/skillbus" ]; then
        program=$folder/skillbus
        where=$program
        skillbus() { SKILLBUS_URL=$url "$program" "$@"; }
        break
    fi
done
echo "asking with skillbus from $where"

get() { curl --silent --show-error --fail --max-time 10 "$url$1"; }
# json EXPRESSION: the value of a Python expression over the JSON on standard input, as `it`.
json() { python3 -c 'import json, sys; it = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }
# holds PATH EXPRESSION: whether the expression is true of what the gateway answers.
holds() { [ "$(get "$1" | json "$2")" = True ]; }
has_workers() { [ "$(get /v1/skills | json "len([w for s in it['skills'] if s['id'] == '$1' for w in s['workers']])")" = "$2" ]; }

article() {
    printf 'Report %s. The town council met on Monday to talk about the river. It had rained for three days. ' "$1"
    printf 'The water rose by two metres and the old bridge was closed. People took the train instead. '
    printf 'In the evening the water fell again, and the council decided to build a higher bridge.\n'
}
# The number makes each text another one, so that no answer can come from a cache.
summary() { [ -n "$(article "$1" | skillbus ask --skill summarize --timeout 60 -)" ]; }
summaries() {
    local running=() number
    for number in $(seq "$1" "$2"); do
        summary "$number" &
        running+=($!)
    done
    for number in "${running[@]}"; do wait "$number" || return 1; done
}
sum_is_exact() { [[ $(skillbus ask 'what is 0.1 + 0.2') == *0.3* ]]; }
all_skills() {
    holds /v1/skills "{'summarize', 'keywords', 'knowledge', 'calculator', 'chat', 'translate', 'citations', 'agent'} <= {s['id'] for s in it['skills'] if s['workers']}"
}
load_is_shared() {
    holds '/v1/jobs?limit=100' \
        "len({j['worker'] for j in it['jobs'] if j['skill'] == 'summarize' and j['outcome'] == 'finished'}) == 3"
}

check "the gateway says that it is ready" get /readyz
check "all seven skills are there" eventually 20 all_skills
check "three workers of summarize are registered" eventually 20 has_workers summarize 3
check "a sum is answered exactly" sum_is_exact
check "twenty-four requests at once are answered" summaries 1 24
check "the three workers shared them (skill log)" eventually 10 load_is_shared

# --- a worker dies

container=$(docker compose ps --quiet summarize)
container=${container%%$'\n'*}
restarts() { docker inspect --format '{{.RestartCount}}' "$container"; }
restarted() { [ "$(restarts)" -gt "$1" ]; }
# By a signal in the container: `docker kill` counts as a stop by hand, which the restart policy respects. The worker is
# not the first process there (an init is), so the kernel lets the signal through.
kill_worker() {
    # shellcheck disable=SC2016  # the container's shell expands it
    docker exec "$container" bash -c 'for process in /proc/[0-9]*; do
        if [ "$(readlink "$process/exe")" = /usr/local/bin/skillbus-worker-summarize ]; then
            kill -9 "${process#/proc/}"
        fi
    done' || [ $? -eq 137 ]  # the container ended with its worker, and this shell with the container
}
before=$(restarts)
check "a worker is killed with SIGKILL" kill_worker
check "requests go on meanwhile" summaries 30 35
check "the killed worker is started again" eventually 30 restarted "$before"
check "and registers again" eventually 30 has_workers summarize 3
check "and requests go on" summaries 40 45

# --- the router restarts

check "the router restarts" docker compose restart router
check "every worker comes back by itself" eventually 40 has_workers summarize 3
check "and requests go on after that" summaries 50 55

# --- what is easily lost in an edit

root_file_system_is_read_only() { ! docker compose exec -T "$1" bash -c 'echo x >/usr/local/bin/probe'; }
runs_without_root() { [ "$(docker compose exec -T "$1" id -u)" != 0 ]; }
port_is_published() { docker compose port "$1" "$2" 2>/dev/null | grep -qE ':[1-9]'; }
bus_is_not_published() { ! port_is_published router 5555 && ! port_is_published router 5556; }
check "the root file system is read-only" root_file_system_is_read_only gateway
check "programs run without root" runs_without_root router
check "only the gateway is published, on loopback" bus_is_not_published

# --- a stop drains

known_request=$(get '/v1/jobs?limit=1' | json "it['jobs'][0]['request']")
containers=$(docker compose ps --quiet)
exited_with_zero() {
    local codes
    # shellcheck disable=SC2086  # one word per container
    codes=$(docker inspect --format '{{.Name}} exited with {{.State.ExitCode}}' $containers)
    echo "$codes"
    ! grep -qv ' with 0$' <<<"$codes"
}
start=$SECONDS
check "docker compose stop drains" docker compose stop
check "every process ended by itself, with 0 ($((SECONDS - start)) s)" exited_with_zero
check "docker compose down succeeds" docker compose down
nothing_is_left() { [ -z "$(docker ps --all --quiet --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME")" ]; }
check "no container is left" nothing_is_left
check "it comes up again" docker compose up --detach --no-build --wait --wait-timeout 120
remembers() { holds '/v1/jobs?limit=100' "'$known_request' in {j['request'] for j in it['jobs']}"; }
check "and still knows what it did" eventually 20 remembers

# --- skills that ask a model: deploy/compose.models.yml, and an endpoint on this host that wants a key

# Containers reach the host at its address on the engine's bridge, where only they do.
bridge=$(docker network inspect bridge --format '{{(index .IPAM.Config 0).Gateway}}')
key=sk-compose-271828182845904523
python3 Tests/LLM/fake_llm.py --host "$bridge" --port-file "$work/port" --api-key "$key" --life 300 >"$work/model" 2>&1 &
model=$!
# A key of the user's own in deploy/secrets stays as it is.
(umask 022 && echo "$key" >"$work/llm_key")
printf 'secrets:\n  llm_key:\n    file: %s\n' "$work/llm_key" >"$work/key.yml"
check "the endpoint listens" eventually 10 test -s "$work/port"
SKILLBUS_LLM_URL=http://host.docker.internal:$(cat "$work/port")/v1
export SKILLBUS_LLM_URL SKILLBUS_LLM_MODEL=small-model
export COMPOSE_FILE=docker-compose.yml:deploy/compose.models.yml:$work/key.yml
start=$SECONDS
check "with deploy/compose.models.yml everything is healthy" docker compose up --detach --no-build --wait --wait-timeout 120
echo "      ($((SECONDS - start)) s)"
check "all skills are there again" eventually 30 all_skills
model_answers() { [ "$(skillbus ask --skill chat 'What is a tide mill?')" = "echo: What is a tide mill?" ]; }
check "chat answers with the model's words" model_answers
origin=${SKILLBUS_LLM_URL%/v1}
says_where_to() { holds /v1/skills "[s['sendsDataTo'] for s in it['skills'] if s['id'] == '$1'] == [$2]"; }
check "the list of skills says where their text goes" says_where_to chat "['$origin']"
check "and that of calculator goes nowhere" says_where_to calculator "[]"
check "what was sent is on record" holds /v1/disclosures "it['disclosures'][0]['party'] == '$origin'"
key_is_hidden() {
    local said
    said=$(docker compose logs 2>&1 && docker compose ps --no-trunc --all && get '/v1/jobs?limit=100')
    [ -n "$said" ] && ! grep --fixed-strings --quiet "$key" <<<"$said"
}
check "the key is in no log" key_is_hidden
leads_out() { docker inspect --format '{{json .NetworkSettings.Networks}}' "$(docker compose ps --quiet "$1")" | grep -q _outside; }
check "chat has a network that leads out" leads_out chat
has_no_way_out() { ! leads_out calculator && ! leads_out router; }
check "calculator and router have none" has_no_way_out
