import Bus
import Telemetry
import Wire

/// What gateways send.
extension Exchange {
    mutating func fromGateway(_ message: consuming Incoming, _ peer: Peer, key: UInt32?, now: UInt64) {
        let header = message.header
        if header.type == .query { return question(message.body(), header, peer, .frontend) }
        if header.type == .hello { return hello(message.body(), header, peer, key: key, now: now) }
        guard let gateway = dispatcher.registry.gateway(of: peer) else {
            return complainAboutStranger(peer, .frontend)
        }
        gateway.lastHeard = now
        switch header.type {
        case .submit:
            let skill: String
            do throws(WireError) {
                skill = try message.withBody { body throws(WireError) in try JobBody.split(body).skill }
            } catch {
                return offend(peer, .frontend, error, now: now)
            }
            dispatcher.submitted(header, skill: skill, parcel: message.keep(), from: gateway, now: now)
        case .eventAck:
            do throws(WireError) {
                try message.withBody { body throws(WireError) in
                    try ExecutionList.forEach(body) { dispatcher.acknowledged($0) }
                }
            } catch {
                return offend(peer, .frontend, error, now: now)
            }
        case .cancel where header.value == 1:
            dispatcher.superseded(header.job.request, generation: header.generation, now: now)
        case .cancel: dispatcher.cancelled(header.job, now: now)
        case .mayStart:
            dispatcher.mayStart(header.job, generation: header.generation, isGranted: header.value == 1, now: now)
        case .approval: dispatcher.answered(header, party: message.body())
        case .heartbeat, .drain: break
        case .goodbye:
            dispatcher.registry.lose(gateway)
            log.info("gateway left", ["gateway": "\(gateway.id)"])
        default: unexpected(header, peer, .frontend)
        }
    }

    mutating func hello(_ body: [UInt8], _ header: Header, _ peer: Peer, key: UInt32?, now: UInt64) {
        do {
            let hello = try JSONBody.decode(Hello.self, from: body)
            let wrong =
                wrongName("gateway", hello.gateway, from: 1) ?? wrongName("host", hello.host)
                ?? wrongName("product", hello.product)
            if let wrong { throw WireError.body(type: "Hello", reason: wrong) }
            try checkName(of: hello, key: key)
            let link = dispatcher.registry.greet(hello, peer: peer, now: now)
            link.outbox.takesBatches = header.flags.contains(.takesBatches)
            link.takesLoad = header.flags.contains(.takesLoad)
            link.key = key
            log.info("gateway connected", ["gateway": "\(hello.gateway)"])
            dispatcher.actions.append(.toGateway(link, welcomeOfGateway))
        } catch let error as JobError {
            log.warning("gateway refused", ["peer": "\(peer)", "code": "\(error.code)", "reason": "\(error.message)"])
            complain(to: peer, .frontend, error)
        } catch {
            let error = error as? WireError ?? .body(type: "Hello", reason: "\(error)")
            offend(peer, .frontend, error, now: now)
        }
    }

    /// What a gateway chooses routers by goes with it: the skills that have a worker here, and how much there is to do.
    var welcomeOfGateway: Outgoing {
        var body = welcome
        body.skills = dispatcher.registry.served
        body.load = dispatcher.load
        return message(body)
    }

    var welcomeOfWorker: Outgoing {
        var body = welcome
        body.adopts = true
        return message(body)
    }

    private var welcome: Welcome {
        Welcome(
            router: instance,
            heartbeat: Int(settings.heartbeat),
            liveness: Int(settings.liveness),
            product: Router.version
        )
    }

    private func message(_ welcome: Welcome) -> Outgoing {
        Outgoing(Header(.welcome, flags: .takesBatches), body: (try? JSONBody.encode(welcome)) ?? [])
    }

    /// A heartbeat with how much there is to do; before it the skills, if others have a worker than gateways know of.
    mutating func tellGateways() {
        let served = dispatcher.registry.served
        let isNews = served != announced
        announced = served
        let heartbeat = Outgoing(Header(.heartbeat, value: UInt64(dispatcher.load)))
        for gateway in dispatcher.registry.gateways.values where gateway.isConnected {
            if isNews { dispatcher.actions.append(.toGateway(gateway, welcomeOfGateway)) }
            dispatcher.actions.append(.toGateway(gateway, heartbeat))
        }
    }
}
