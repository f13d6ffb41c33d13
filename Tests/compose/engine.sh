#!/usr/bin/env bash
# A container engine with the base images of deploy/Dockerfile, for `make test-compose`.
#
#   engine.sh up      an engine that answers, Compose v2, and the images: what is there is used as it is
#   engine.sh stop    stop the engine that `up` started, and undo its network settings; never another one
#   engine.sh purge   stop, then delete its images, data and programs
#
# Where an engine runs and reaches a registry, this only pulls. On a Debian 12 machine that reaches nothing but a
# Debian mirror it installs an engine from Debian's packages, and makes the two images from Debian's packages and the
# Swift toolchain of the machine, under the names the Dockerfile uses: four to seven minutes and 3 GB the first time,
# a few seconds after that. That part needs root. The last line of its standard error says why it could not.
#
#   DOCKER_HERE_DIR   /var/lib/docker-here   where an engine of our own keeps everything
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
dir=${DOCKER_HERE_DIR:-/var/lib/docker-here}
socket=/var/run/docker.sock
plugins=/usr/local/lib/docker/cli-plugins
runtime_image=debian:bookworm-slim
build_image=swift:6.3-bookworm
export DEBIAN_FRONTEND=noninteractive
began=$SECONDS

say() { printf '[engine %3ds] %s\n' "$((SECONDS - began))" "$*"; }
die() { printf '%s\n' "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }
apt() { apt-get -o DPkg::Lock::Timeout=300 -qq "$@"; }
answers() { docker version >/dev/null 2>&1; }
has_image() { docker image inspect "$1" >/dev/null 2>&1; }

# The Debian mirrors that the machine's own apt is set to.
find_mirrors() {
    local targets
    # shellcheck disable=SC2016  # apt's own fields
    targets=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)')
    mirror=$(awk '$1 == "bookworm" && !n++ {sub("/$", "", $2); print $2}' <<<"$targets")
    security=$(awk '$1 == "bookworm-security" && !n++ {sub("/$", "", $2); print $2}' <<<"$targets")
    [ -n "$mirror" ] && [ -n "$security" ] || die "apt has no source for bookworm and bookworm-security"
}

# What only root on Debian 12 can do.
require_debian() {
    [ "$(id -u)" = 0 ] || die "$1, and making one needs root"
    # shellcheck source=/dev/null
    (. /etc/os-release && [ "${VERSION_CODENAME:-}" = bookworm ]) 2>/dev/null ||
        die "$1, and making one works on Debian 12 only"
}

# The id of the engine that this script started, if it still runs. Its parent may be slow to reap it: a zombie is gone.
engine_process() {
    local process state
    [ -s "$dir/run/dockerd.pid" ] || return 1
    process=$(cat "$dir/run/dockerd.pid")
    state=$(awk '/^State:/{print $2}' "/proc/$process/status" 2>/dev/null) || return 1
    [ -n "$state" ] && [ "$state" != Z ] || return 1
    tr '\0' ' ' <"/proc/$process/cmdline" | grep -q -- "--data-root $dir/data" || return 1
    echo "$process"
}

# runc, iptables, tini and mmdebstrap come from Debian 12. The engine, its client, compose and buildx come from
# Debian 13, because 12's compose is version 1; they need only glibc 2.34, and are unpacked into a folder of their own,
# so that the machine's apt sources stay as they are.
install_programs() {
    local needed=() program
    for program in runc iptables tini mmdebstrap; do have $program || needed+=("$program"); done
    have ip || needed+=(iproute2)
    if [ ${#needed[@]} -gt 0 ]; then
        say "apt-get install ${needed[*]}"
        apt update >/dev/null
        apt install -y --no-install-recommends "${needed[@]}" >/dev/null || die "apt-get install ${needed[*]} failed"
    fi
    if [ ! -x "$dir/bin/dockerd" ] || [ ! -x "$dir/bin/docker-compose" ]; then
        say "download docker.io docker-cli docker-compose docker-buildx containerd"
        find_mirrors
        rm -rf "$dir/apt"
        mkdir -p "$dir"/apt/{lists/partial,cache/archives/partial,packages,root} "$dir/bin"
        echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >"$dir/apt/sources.list"
        local options=(
            -o Dir::Etc::sourcelist="$dir/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
            -o Dir::State::lists="$dir/apt/lists" -o Dir::Cache="$dir/apt/cache" -o APT::Sandbox::User=root
            -o Acquire::Languages=none
        )
        apt "${options[@]}" update >/dev/null || die "the Debian mirror did not answer"
        (cd "$dir/apt/packages" && apt "${options[@]}" download docker.io/trixie docker-cli/trixie \
            docker-compose/trixie docker-buildx/trixie containerd/trixie >/dev/null) ||
            die "the Debian mirror has no engine packages"
        for program in "$dir"/apt/packages/*.deb; do dpkg -x "$program" "$dir/apt/root"; done
        local usr=$dir/apt/root/usr
        install "$usr"/sbin/dockerd "$usr"/sbin/docker-proxy "$usr"/bin/docker "$usr"/bin/containerd \
            "$usr"/bin/containerd-shim-runc-v2 "$usr"/libexec/docker/cli-plugins/docker-compose \
            "$usr"/libexec/docker/cli-plugins/docker-buildx "$dir/bin/"
        ln -sf "$(command -v tini)" "$dir/bin/docker-init"
        rm -rf "$dir/apt"
        "$dir/bin/dockerd" --version >/dev/null || die "Debian's dockerd does not run here"
    fi
    have docker || ln -s "$dir/bin/docker" /usr/local/bin/docker
    mkdir -p "$plugins"
    for program in docker-compose docker-buildx; do
        [ -e "$plugins/$program" ] || ln -sf "$dir/bin/$program" "$plugins/$program"
    done
}

start_engine() {
    if answers && docker compose version >/dev/null 2>&1; then
        say "an engine runs: $(docker version -f '{{.Server.Version}}')"
        return
    fi
    require_debian "no container engine with Compose v2 answers"
    mkdir -p "$dir/run" "$dir/bin"
    install_programs
    answers && return
    # What a killed engine left behind.
    rm -f "$dir/run/dockerd.pid" "$dir/run/exec/containerd/containerd.pid" "$socket"
    # With forwarding on beforehand dockerd leaves the FORWARD policy at ACCEPT, so that bridges and network
    # namespaces made by hand on this machine go on working beside it.
    [ -e "$dir/run/ip_forward.before" ] || cat /proc/sys/net/ipv4/ip_forward >"$dir/run/ip_forward.before"
    { echo 1 >/proc/sys/net/ipv4/ip_forward; } 2>/dev/null || die "the kernel's network settings cannot be changed here"
    say "start dockerd"
    PATH="$dir/bin:$PATH" setsid nohup "$dir/bin/dockerd" --data-root "$dir/data" --exec-root "$dir/run/exec" \
        --pidfile "$dir/run/dockerd.pid" -H "unix://$socket" --storage-driver overlay2 --log-level warn \
        --shutdown-timeout 5 >"$dir/run/dockerd.log" 2>&1 </dev/null &
    disown
    for _ in $(seq 60); do answers && break; sleep 0.5; done
    answers || die "dockerd did not come up: $(tail -n 1 "$dir/run/dockerd.log")"
    say "engine $(docker version -f '{{.Server.Version}}'), compose $(docker compose version --short)"
}

# From a registry if one answers.
pull() {
    timeout 900 docker pull --quiet "$1" >/dev/null 2>&1 && say "pulled $1"
}

make_runtime_image() {
    require_debian "no registry has $runtime_image"
    install_programs
    find_mirrors
    say "make $runtime_image"
    # shellcheck disable=SC2016  # $1 is mmdebstrap's
    mmdebstrap --quiet --variant=minbase --mode=root --dpkgopt=force-unsafe-io \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/info/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
        --dpkgopt='path-include=/usr/share/doc/*/copyright' \
        --customize-hook='rm -rf "$1"/var/lib/apt/lists/* "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d/*' \
        --customize-hook='printf "Types: deb\nURIs: '"$mirror"'\nSuites: bookworm bookworm-updates\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n\nTypes: deb\nURIs: '"$security"'\nSuites: bookworm-security\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n" >"$1"/etc/apt/sources.list.d/debian.sources' \
        --customize-hook='printf "DPkg::Post-Invoke { \"rm -f /var/cache/apt/archives/*.deb /var/cache/apt/archives/partial/*.deb /var/cache/apt/*.bin || true\"; };\nAcquire::Languages \"none\";\n" >"$1"/etc/apt/apt.conf.d/docker-clean' \
        --customize-hook='printf "#!/bin/sh\nexit 101\n" >"$1"/usr/sbin/policy-rc.d; chmod +x "$1"/usr/sbin/policy-rc.d' \
        bookworm - "deb $mirror bookworm main" "deb $mirror bookworm-updates main" \
        "deb $security bookworm-security main" |
        docker import -c 'CMD ["bash"]' - "$runtime_image" >/dev/null || die "mmdebstrap could not make $runtime_image"
}

# The official image's packages, and the machine's toolchain as /usr. By a commit, because COPY would keep a second
# copy of the toolchain in the build cache.
make_build_image() {
    local swift toolchain name=skillbus-make-swift-image exclude
    require_debian "no registry has $build_image"
    swift=$("$here/../../.ci/find-swift") || die "there is no Swift toolchain to make $build_image from"
    toolchain=$(cd "$(dirname "$(readlink -f "$swift")")/../.." && pwd)
    say "make $build_image from $toolchain"
    exclude=$(printf -- '--exclude=usr/%s ' lib/swift/embedded lib/swift/FrameworkABIBaseline 'bin/lldb*' \
        bin/sourcekit-lsp bin/docc bin/clangd bin/wasmkit bin/swift-format 'lib/liblldb*' lib/libsourcekitdInProc.so \
        'lib/libSwiftSourceKit*' 'lib/python*' 'local/lib/python*')
    docker rm -f $name >/dev/null 2>&1 || true
    docker run --name $name --network host -v "$toolchain:/mnt:ro" "$runtime_image" bash -ec "
        set -o pipefail
        export DEBIAN_FRONTEND=noninteractive
        apt-get -qq update
        apt-get -qq install -y binutils libcurl4-openssl-dev libedit-dev libicu-dev libsqlite3-dev libncurses-dev \
            libpython3-dev libxml2-dev pkg-config uuid-dev tzdata git gcc libstdc++-12-dev >/dev/null
        rm -r /var/lib/apt/lists/*
        cd /mnt
        tar -cf - $exclude usr | tar -xf - -C / --keep-directory-symlink --no-same-owner
        swift --version" >"$dir/make-image.log" 2>&1 ||
        die "making $build_image failed: $(tail -n 1 "$dir/make-image.log")"
    docker commit -c 'CMD ["bash"]' $name "$build_image" >/dev/null
    docker rm $name >/dev/null
}

get_images() {
    has_image $runtime_image || pull $runtime_image || make_runtime_image
    has_image $build_image || pull $build_image || make_build_image
    say "images: $runtime_image, $build_image"
}

# The rules that dockerd left in the packet filter.
remove_rules() {
    local table chain rule
    for table in filter nat; do
        iptables -w -t $table -S 2>/dev/null |
            { grep -E '^-A (FORWARD|PREROUTING|OUTPUT|POSTROUTING) .*(DOCKER|docker0|br-[0-9a-f]{12})' || true; } |
            sed 's/^-A/-D/' | while read -r rule; do
                # shellcheck disable=SC2086  # a rule is several words
                iptables -w -t $table $rule 2>/dev/null || true
            done
        for chain in $(iptables -w -t $table -S 2>/dev/null | awk '$1=="-N" && $2 ~ /^DOCKER/ {print $2}'); do
            iptables -w -t $table -F "$chain"
        done
        for chain in $(iptables -w -t $table -S 2>/dev/null | awk '$1=="-N" && $2 ~ /^DOCKER/ {print $2}'); do
            iptables -w -t $table -X "$chain" 2>/dev/null || true
        done
    done
}

stop_engine() {
    local process bridges bridge
    process=$(engine_process) || { say "no engine that was started here"; return 0; }
    say "stop dockerd ($process)"
    docker ps -q | xargs -r docker stop -t 3 >/dev/null
    bridges=$(docker network ls -q -f driver=bridge | cut -c1-12)
    kill "$process"
    for _ in $(seq 60); do engine_process >/dev/null || break; sleep 0.5; done
    engine_process >/dev/null && die "dockerd ($process) does not stop"
    for bridge in docker0 $(printf '%s\n' "$bridges" | sed 's/^/br-/'); do ip link del "$bridge" 2>/dev/null || true; done
    remove_rules
    # dockerd mounts its data folder on itself and leaves it so.
    umount "$dir/run/exec/netns/default" 2>/dev/null || true
    umount "$dir/data" 2>/dev/null || true
    [ -e "$dir/run/ip_forward.before" ] && cat "$dir/run/ip_forward.before" >/proc/sys/net/ipv4/ip_forward
    rm -rf "$dir/run"
    rm -f "$socket"
}

purge() {
    local program
    stop_engine
    for program in docker-compose docker-buildx; do
        [ "$(readlink "$plugins/$program" 2>/dev/null)" = "$dir/bin/$program" ] && rm -f "$plugins/$program"
    done
    [ "$(readlink /usr/local/bin/docker 2>/dev/null)" = "$dir/bin/docker" ] && rm -f /usr/local/bin/docker
    umount "$dir/data" 2>/dev/null || true
    rm -rf "${dir:?}/bin" "${dir:?}/data" "${dir:?}/apt" "${dir:?}/run" "${dir:?}/make-image.log"
    rmdir "$dir" 2>/dev/null || true
    say "deleted what was in $dir"
}

case "${1:-}" in
up) start_engine && get_images ;;
stop) stop_engine ;;
purge) purge ;;
*) sed -n '2,13p' "$0" | sed 's/^# \{0,1\}//'; exit 2 ;;
esac
