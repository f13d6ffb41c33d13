import Bus
import TestSupport
import Testing
import Wire

@testable import Gateway

/// Much at once: what is refused at the door, and what must not keep others waiting.
@Suite struct FlowTests {
    private let finished = #"{"output":{"text":"hi","parts":[]},"engine":"offline","cached":false,"milliseconds":1}"#

    private func say(_ load: SkillLoad, wait: UInt64, by router: FakeRouter) throws {
        router.send(try Outgoing(Header(.load, flags: .mayIgnore, value: wait), json: load))
    }

    @Test func aSkillWithTooMuchToDoIsRefusedWithTheTimeThatItNeeds() async throws {
        let gateway = try await TestGateway()
        let router = try await gateway.router()
        let session = try await gateway.service.createSession()
        let request = NewRequest(text: "t", skill: "echo")
        try say(SkillLoad(skill: "echo", tenants: [0], session: 1), wait: 6500, by: router)
        // Whoever has less than others has its turn: here the first of the session, not the second.
        _ = try await gateway.service.submit(request, in: session)
        #expect(
            await eventually {
                do {
                    _ = try await gateway.service.submit(request, in: session)
                    return false
                } catch {
                    guard case .refused(let refusal) = error as? GatewayError else { return false }
                    let problem = GatewayError.refused(refusal)
                    return problem.code == "overloaded" && problem.retryAfter == 7
                }
            }
        )
        // Another skill is none of its business, and neither is another tenant.
        _ = try await gateway.service.submit(NewRequest(text: "t", skill: "other"), in: session)
        let others = try await gateway.service.createSession(owner: "anna")
        _ = try await gateway.service.submit(request, in: others, owner: "anna")
        try say(SkillLoad(skill: "echo", tenants: [], session: 0), wait: 0, by: router)
        #expect(await eventually { (try? await gateway.service.submit(request, in: session)) != nil })
        await gateway.service.close()
        await router.stop()
    }

    @Test func whatTheRouterSaidOfItsLoadEnds() throws {
        let loads = SkillLoads()
        let router = Identifier.timeOrdered(milliseconds: 1)
        loads.note(SkillLoad(skill: "echo", tenants: [0], session: 0), at: router, wait: 100, now: 1000)
        #expect(loads.refusal("echo", at: router, tenant: 0, open: 0, now: 1000)?.retryAfter == 1)
        #expect(loads.refusal("echo", at: router, tenant: 0, open: 0, now: 1000 + SkillLoads.validity) == nil)
        loads.note(SkillLoad(skill: "echo", tenants: [0], session: 0), at: router, wait: 100, now: 5000)
        loads.forget(router)
        #expect(loads.refusal("echo", at: router, tenant: 0, open: 0, now: 5000) == nil)
    }

    @Test func whereThereIsRoomForSomeSoManyAreTaken() throws {
        let loads = SkillLoads()
        let router = Identifier.timeOrdered(milliseconds: 1)
        func isTaken(tenant: UInt64 = 0, open: Int = 0) -> Bool {
            loads.refusal("echo", at: router, tenant: tenant, open: open, now: 1000) == nil
        }
        // No tenants are all of them: nobody has more than one waiting.
        loads.note(SkillLoad(skill: "echo", tenants: [], session: 0, room: 2), at: router, wait: 100, now: 1000)
        #expect((0..<4).map { _ in isTaken() } == [true, true, false, false])
        #expect(!isTaken(tenant: 7))
        // Whoever has less than others displaces one of them, once until the router has said how it stands now.
        loads.note(SkillLoad(skill: "echo", tenants: [0], session: 2, room: 0), at: router, wait: 100, now: 1000)
        #expect(!isTaken(open: 2))
        #expect(isTaken(open: 1))
        #expect(!isTaken(open: 1))
        #expect(!isTaken(tenant: 7))
        loads.note(SkillLoad(skill: "echo", tenants: [0], session: 2, room: 0), at: router, wait: 100, now: 1000)
        #expect(isTaken(tenant: 7))
        #expect(!isTaken(tenant: 8))
    }

    @Test func priorityAndTenantGoWithTheRequest() async throws {
        let gateway = try await TestGateway()
        let router = try await gateway.router()
        let session = try await gateway.service.createSession(owner: "anna")
        for priority in NewRequest.Priority.allCases {
            var request = NewRequest(text: "t", skill: "echo")
            request.priority = priority
            _ = try await gateway.service.submit(request, in: session, owner: "anna")
        }
        let flags: [Header.Flags] = [.highPriority, [], .lowPriority]
        var found: [Header.Flags] = []
        for number in 1...3 {
            let submit = try await router.next(.submit, number: number)
            found.append(submit.header.flags)
            #expect(try JobBody.decode(submit.body).input.tenant == TenantNumber.of("anna"))
        }
        #expect(Set(found) == Set(flags))
        #expect(TenantNumber.of("local") == 0 && TenantNumber.of("anna") != TenantNumber.of("bert"))
        await gateway.service.close()
        await router.stop()
    }

    @Test(.timeLimit(.minutes(1))) func aBurstOfOneSessionIsStoredByPiecesBetweenWhatOthersDo() async throws {
        let gateway = try await TestGateway()
        let router = try await gateway.router()
        let service = gateway.service
        let (loud, quiet) = (try await service.createSession(), try await service.createSession())
        let burst = try await service.submit(NewRequest(text: "burst", skill: "echo"), in: loud)
        let other = try await service.submit(NewRequest(text: "other", skill: "echo"), in: quiet)
        _ = try await router.next(.submit, number: 2)
        let count = 20_000
        var records = EventRecordWriter()
        for number in 1..<count { records.append(.progress, text: #"{"message":"\#(number)"}"#) }
        records.append(.finished, text: finished)
        var header = Header(.event, job: burst.id.job(step: 1), generation: 1, attempt: 1, sequence: 1)
        header.value = records.count
        header.flags = .terminal
        router.send(Outgoing(header, body: records.bytes))
        router.send(
            Header(.event, job: other.id.job(step: 1), generation: 1, attempt: 1, sequence: 1),
            (.started, #"{"worker":"w","engine":"offline"}"#),
            (.finished, finished)
        )
        #expect(try await gateway.end(of: other.id, in: quiet).type == "request.finished")
        // The other one came after all of the burst, and is done before most of it.
        let stored = try await service.snapshot(of: loud).seq
        #expect(stored < UInt64(count) / 2, "\(stored) events were stored first")
        #expect(try await gateway.end(of: burst.id, in: loud).type == "request.finished")
        let events = try await service.events(of: loud, after: 0, maxBytes: 1 << 26).events
        // accepted, plan, and the end of the request.
        #expect(events.count == count + 3)
        #expect(service.requests.waiting.refused == 0)
        #expect(try await router.next(.eventAck).body.count >= ExecutionList.entry)
        await service.close()
        await router.stop()
    }
}
