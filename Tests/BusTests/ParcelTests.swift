import Bus
import Testing
import Wire

struct ParcelTests {
    /// A message kept as it came can be sent under several headers: the first is written in place, and nothing that was
    /// sent before changes with the second.
    @Test(arguments: [0, 200, Limits.inlineBody + 1]) func oneParcelUnderSeveralHeaders(size: Int) throws {
        let context = try Context()
        let router = try Socket(.router, in: context)
        let dealer = try Socket(.dealer, in: context)
        try dealer.connect(try router.bind("tcp://127.0.0.1:*"))
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        let request = Identifier.timeOrdered(milliseconds: 1)
        var outcome = Socket.Outcome.full
        while outcome != .sent {
            outcome = try Outgoing(Header(.submit, job: request), body: body).send(on: dealer, to: nil)
        }

        var identity = try next(router)
        let peer = try #require(identity.withBytes { Peer(routingID: $0) })
        let parcel = try Incoming(first: try next(router), from: router).keep()
        #expect(parcel.body() == body)
        let headers = (1...3).map {
            Header(.dispatch, job: request.job(step: 1), attempt: UInt32($0), sequence: UInt64($0))
        }
        for header in headers { #expect(try parcel.send(on: router, to: peer, header: header) == .sent) }
        for header in headers {
            var message = try Incoming(first: try next(dealer), from: dealer)
            #expect(message.header.execution == header.execution)
            #expect(message.header.sequence == header.sequence)
            #expect(message.body() == body)
        }
        #expect(parcel.body() == body)
    }

    private func next(_ socket: borrowing Socket) throws -> Message {
        var poller = Poller()
        try poller.add(socket)
        while true {
            if let message = try socket.receive() { return message }
            try poller.wait(milliseconds: 1000)
        }
    }
}
