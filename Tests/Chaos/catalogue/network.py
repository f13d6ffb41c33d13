"""Faults of the network between the processes."""
import asyncio
import sys
import time

import zmq

from processes import ROOT, wait_until

from .case import all_finished, fault, require, running, User


async def partition(user, proxy, seconds):
    """Cuts a way off for so long while five jobs of four seconds run."""
    for _ in range(5):
        await user.ask(count=20, milliseconds=4000)
    await user.until(lambda: len(user.of("job.started")) == 5)
    proxy.mode = "blackhole"
    await asyncio.sleep(seconds)
    proxy.mode = "pass"


@fault(16, "partition of all workers from the router for 8 s")
async def workers_partitioned(folder, programs):
    with running(folder, programs, ("tokens", 2, 16), is_proxied=True) as system:
        async with User(system) as user:
            await partition(user, system.back_proxy, 8)
            all_finished(await user.all_ended(60))
            return f"5 of 5 finished, {len(user.of('job.started')) - 5} attempts begun anew, one end each"


@fault(18, "partition of the gateway from the router for 15 s")
async def gateway_partitioned(folder, programs):
    with running(folder, programs, is_proxied=True) as system:
        async with User(system) as user:
            await partition(user, system.front_proxy, 15)
            begin = time.monotonic()
            all_finished(await user.all_ended(60))
            return f"all finished {time.monotonic() - begin:.1f} s after it healed, one end each"


@fault(19, "200 ms on every packet of the bus")
async def slow_network(folder, programs):
    with running(folder, programs, is_proxied=True) as system:
        async with User(system) as user:
            system.front_proxy.delay = system.back_proxy.delay = 0.2
            begin = time.monotonic()
            for _ in range(5):
                await user.ask(count=5, milliseconds=500)
            all_finished(await user.all_ended(60))
            require(not user.of("job.retrying"), "taken for dead")
            return f"slower ({time.monotonic() - begin:.1f} s for half a second of work), nobody taken for dead"


@fault(20, "half-open connection: a worker's packets vanish")
async def half_open(folder, programs):
    with running(folder, programs, ("tokens", 1, 4), is_proxied=True) as system:
        system.back_proxy.mode = "blackhole"
        begin = time.monotonic()
        gone = await asyncio.to_thread(wait_until, lambda: not system.workers().get("tokens", [1]), 10)
        require(gone, "not noticed in 10 s")
        noticed = time.monotonic() - begin
        system.back_proxy.mode, begin = "pass", time.monotonic()
        back = await asyncio.to_thread(wait_until, lambda: system.workers().get("tokens"), 10)
        require(back and noticed <= 5, f"noticed after {noticed:.1f} s, back: {bool(back)}")
        return f"noticed after {noticed:.1f} s, back {time.monotonic() - begin:.1f} s after it healed"


@fault(21, "connections reset after every few bytes")
async def cut_connections(folder, programs):
    with running(folder, programs, is_proxied=True) as system:
        async with User(system) as user:
            for cut in (150, 400, 1000, 2500):
                system.back_proxy.cut = system.front_proxy.cut = cut
                system.back_proxy.reset()
                system.front_proxy.reset()
                for _ in range(3):
                    await user.ask(count=5, milliseconds=200)
                await asyncio.sleep(1.5)
            system.back_proxy.cut = system.front_proxy.cut = None
            system.back_proxy.reset()
            system.front_proxy.reset()
            outcomes = await user.all_ended(60)
            codes = sorted(event["data"]["error"]["code"] for event in user.of("request.failed"))
            require("dead_lettered" not in codes, f"resets counted as deaths: {codes}")
            return (f"{len(outcomes)} requests, {outcomes.count('finished')} finished, one end each; "
                    f"{len(user.of('job.retrying'))} attempts begun anew" + (f"; failed: {', '.join(codes)}" if codes else ""))


@fault(46, "the acknowledgements' way is cut for 3 s after a job has finished")
async def acknowledgements_cut(folder, programs):
    with running(folder, programs, ("tokens", 1, 4), is_proxied=True) as system:
        async with User(system) as user:
            await user.ask(count=2, milliseconds=500)
            await user.until(lambda: user.of("job.started"))
            system.back_proxy.mode = "up"
            await user.until(lambda: user.of("request.finished"))
            await asyncio.sleep(3)
            system.back_proxy.mode = "pass"
            await user.ask(count=2, milliseconds=100)
            all_finished(await user.all_ended())
            require(len(user.of("job.finished")) == 2, "stored twice")
            return "sent again, stored once"


@fault(48, "a peer of another protocol version")
async def other_version(folder, programs):
    sys.path.insert(0, str(ROOT / "Tests/conformance"))
    from wire import HELLO, Message
    with running(folder, programs) as system:
        context = zmq.Context()
        try:
            peer = context.socket(zmq.DEALER)
            peer.linger = 0
            peer.connect(f"tcp://127.0.0.1:{system.frontend}")
            head = bytearray(Message(HELLO, {}).frames()[0])
            head[4] = 9
            peer.send(bytes(head))
            require(peer.poll(3000), "no answer")
            error = Message.parse(peer.recv_multipart()).json
            require(error["code"] == "unsupported_version", str(error))
            peer.close()
            return f"{error['code']}: {error['message']}"
        finally:
            context.destroy(linger=0)
