import Bus
import Credentials
import Lifecycle
import Synchronization
import Telemetry

/// What a key may do on the bus.
final class Grant: Sendable {
    enum Role: Sendable {
        case gateway
        case worker
        /// The router's own key: its health check asks with it, and does nothing else.
        case probe
    }

    let name: String
    let role: Role
    private let skills: AllowList.Skills

    init(name: String, role: Role, skills: AllowList.Skills = .only([])) {
        self.name = name
        self.role = role
        self.skills = skills
    }

    func mayRegister(_ skill: String) -> Bool { role == .worker && skills.contains(skill) }
}

/// Who is let in, while keys are configured: the router's key and the list, which may be read anew.
///
/// Each key has a number for as long as the router runs: what its connections carry, also after it has been taken off
/// the list, so that nothing more of theirs counts.
final class BusAccess: Sendable {
    private struct State {
        var numbers: [PublicKey: UInt32] = [:]
        /// By number; nil for a key that is no longer on the list.
        var grants: [Grant?] = []

        mutating func set(_ key: PublicKey, _ grant: Grant) {
            if let number = numbers[key] {
                grants[Int(number)] = grant
            } else {
                numbers[key] = UInt32(grants.count)
                grants.append(grant)
            }
        }
    }

    /// The router's.
    let pair: KeyPair
    private let listFile: String
    private let state = Mutex(State())

    /// Reads key and list.
    /// - Throws: `CredentialError` for what cannot be read, or what others can get at.
    init(keyFile: String, listFile: String) throws(CredentialError) {
        pair = try KeyFile.readRouter(keyFile)
        self.listFile = listFile
        try reload()
    }

    /// Reads the list anew. Where that fails, the old one stays.
    func reload() throws(CredentialError) {
        let list = try AllowList.read(listFile)
        state.withLock { state in
            for index in state.grants.indices { state.grants[index] = nil }
            state.set(pair.publicKey, Grant(name: "router", role: .probe))
            for entry in list.entries where entry.key != pair.publicKey {
                let role: Grant.Role = entry.role == .worker ? .worker : .gateway
                state.set(entry.key, Grant(name: entry.name, role: role, skills: entry.skills))
            }
        }
    }

    /// The number of a key that may connect.
    func admit(_ key: PublicKey) -> UInt32? {
        state.withLock { state in
            guard let number = state.numbers[key], state.grants[Int(number)] != nil else { return nil }
            return number
        }
    }

    /// What the key of that number may do; nil when that is nothing any more.
    func grant(_ number: UInt32) -> Grant? {
        state.withLock { state in Int(number) < state.grants.count ? state.grants[Int(number)] : nil }
    }

    /// Answers libzmq's questions. Without it nobody gets in, so the process ends when it does.
    func authenticator(in context: Context, log: Log) throws(BusError) -> Authenticator {
        try Authenticator(in: context) { [self] key in
            admit(key)
        } onStranger: { stranger in
            log.warning(
                "a peer was not let in",
                ["address": .text(stranger.address), "key": .text(stranger.key?.description ?? "none")]
            )
        } onFailure: { error in
            log.error("nobody can be let in any more", ["reason": "\(error)"])
            leave(ExitCode.failure)
        }
    }
}
