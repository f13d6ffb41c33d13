import Bus
import Telemetry
import Wire

/// What a peer's key allows it, where keys are configured. Each message is looked at, not only the first: the key is
/// that of the connection, and the list may have changed since.
extension Exchange {
    /// Whether a message may be read on. What may not is answered with why.
    mutating func isAllowed(
        _ header: Header,
        key number: UInt32?,
        _ peer: Peer,
        _ side: Side,
        access: BusAccess
    ) -> Bool {
        guard let number, let grant = access.grant(number) else {
            refuse(peer, side, key: "unknown", "the key of this peer is no longer on the router's list", header)
            return false
        }
        // Whoever is on the list may ask who is there.
        if header.type == .query { return true }
        let isRight = side == .backend ? grant.role == .worker : grant.role == .gateway
        guard isRight else {
            let what = side == .backend ? "a worker" : "a gateway"
            let reason = "the key \"\(grant.name)\" is not that of \(what), and may not send \(header.type) here"
            refuse(peer, side, key: grant.name, reason, header)
            return false
        }
        let owner =
            side == .backend ? dispatcher.registry.workers[peer]?.key : dispatcher.registry.gateway(of: peer)?.key
        guard owner == nil || owner == number else {
            refuse(peer, side, key: grant.name, "this connection was another key's", header)
            return false
        }
        return true
    }

    /// Whether a worker's key may register what it brings.
    func checkSkills(of registration: Registration, key number: UInt32?) throws(JobError) {
        guard let access, let number else { return }
        guard let grant = access.grant(number) else { throw Exchange.forbidden("the key is not on the router's list") }
        for manifest in registration.manifests where !grant.mayRegister(manifest.id) {
            throw Exchange.forbidden(
                "the key \"\(grant.name)\" may not register the skill \"\(manifest.id.prefix(64))\"",
                hint: "let it in the router's list of keys, or start the worker with the key that is for this skill"
            )
        }
        // What it had before goes over to who shows the same instance: that must be the same key.
        let taken = dispatcher.registry.workers.values.first { $0.registration.instance == registration.instance }
        if let taken, taken.key != number {
            throw Exchange.forbidden("a worker with another key has this instance")
        }
    }

    /// Whether a gateway's key may have the name that it gives.
    func checkName(of hello: Hello, key number: UInt32?) throws(JobError) {
        guard let number, let link = dispatcher.registry.gateways[hello.gateway] else { return }
        guard link.key == number || !link.isConnected else {
            throw Exchange.forbidden("a gateway with another key has this name")
        }
    }

    /// After the list has been read anew: peers that are on it no longer, or may do less, are gone.
    mutating func enforceAccess(now: UInt64) {
        guard let access else { return }
        for worker in dispatcher.registry.workers.values {
            let grant = worker.key.flatMap { access.grant($0) }
            guard !worker.skills.allSatisfy({ grant?.mayRegister($0) ?? false }) else { continue }
            log.warning("worker is no longer allowed", ["worker": .text(worker.registration.worker)])
            dispatcher.workerLost(worker.peer, reason: "its worker is no longer allowed", now: now)
            complain(to: worker.peer, .backend, Exchange.forbidden("the key is no longer on the router's list"))
        }
        for gateway in dispatcher.registry.gateways.values where gateway.isConnected {
            guard gateway.key.flatMap({ access.grant($0) })?.role != .gateway else { continue }
            log.warning("gateway is no longer allowed", ["gateway": .text(gateway.id)])
            dispatcher.registry.lose(gateway)
            complain(to: gateway.peer, .frontend, Exchange.forbidden("the key is no longer on the router's list"))
        }
    }

    private mutating func refuse(_ peer: Peer, _ side: Side, key: String, _ reason: String, _ header: Header) {
        log.warning(
            "a peer may not do that",
            ["peer": "\(peer)", "key": .text(key), "message": "\(header.type)", "reason": .text(reason)]
        )
        let sequence = header.type == .query ? header.sequence : 0
        complain(to: peer, side, Exchange.forbidden(reason), sequence: sequence)
    }

    private static func forbidden(_ reason: String, hint: String? = nil) -> JobError {
        JobError(code: JobError.Code.forbidden, message: reason, hint: hint)
    }
}
