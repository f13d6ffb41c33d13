"""Packets that are lost, in a network of its own: started again in there by this program itself."""
import asyncio
import os
import pathlib
import shutil
import subprocess
import sys

from .case import Broken, NotTried, User, all_finished, fault, require, running

# Of the router's two ports, in both directions.
SHARES = (0.05, 0.20)


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=20).stdout


def lose(ports, share):
    """From now on so many of the packets to and from these ports are dropped."""
    run("iptables", "-F", "INPUT")
    for port in ports:
        for end in ("--dport", "--sport"):
            run("iptables", "-A", "INPUT", "-i", "lo", "-p", "tcp", end, str(port), "-m", "statistic", "--mode", "random",
                "--probability", str(share), "-j", "DROP")


async def inside(folder, programs):
    found = []
    with running(folder, programs, ("tokens", 2, 16)) as system:
        for share in SHARES:
            lose([system.frontend, system.backend], share)
            async with User(system) as user:
                for _ in range(10):
                    await user.ask(count=20, milliseconds=2000)
                begin = asyncio.get_running_loop().time()
                all_finished(await user.all_ended(90))
                took = asyncio.get_running_loop().time() - begin
                again = len(user.of("job.retrying"))
                lost = sum(int(line.split()[0]) for line in run("iptables", "-L", "INPUT", "-v", "-x", "-n").splitlines()
                           if "DROP" in line)
                require(lost > 0, "no packet was lost")
                require(share > 0.05 or again == 0, f"taken for dead at {share:.0%}")
                found.append(f"{share:.0%} ({lost} packets): 10 jobs of 2 s, all finished after {took:.1f} s, {again} begun anew")
    return "; ".join(found)


@fault(19, "5 % and 20 % of the packets of the bus are lost")
async def packets_lost(folder, programs):
    if os.geteuid() != 0 or not all(map(shutil.which, ("unshare", "iptables", "ip"))):
        raise NotTried("it needs root, unshare and iptables")
    probe = subprocess.run(["unshare", "--net", "sh", "-c", "ip link set lo up && iptables -A INPUT -p tcp -m statistic "
                            "--mode random --probability 0.5 -j DROP"], capture_output=True, text=True)
    if probe.returncode != 0:
        raise NotTried(f"no network of its own can be made here: {probe.stderr.strip()[:100]}")
    place = pathlib.Path(__file__).resolve().parents[1]
    result = await asyncio.to_thread(
        subprocess.run, ["unshare", "--net", sys.executable, "-m", "catalogue.loss", folder, programs], cwd=place,
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=240)
    if result.returncode != 0:
        raise Broken((result.stderr.strip().splitlines() or ["no word of why"])[-1])
    return result.stdout.strip()


if __name__ == "__main__":
    run("ip", "link", "set", "lo", "up")
    print(asyncio.run(inside(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))))
