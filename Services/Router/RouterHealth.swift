import Bus
import Credentials
import Wire

/// What `--health` does: a question over the bus, as a worker would ask it.
enum RouterHealth {
    static func answers(at endpoint: String, access: BusAccess?) async -> Bool {
        // A router that listens on every address is asked on this host's own.
        let reachable = endpoint.replacing("//0.0.0.0:", with: "//127.0.0.1:").replacing("//*:", with: "//127.0.0.1:")
        let key = access.map { ClientKey(pair: $0.pair, router: $0.pair.publicKey) }
        return await RouterQuestion.ask(Query(ask: .skills), at: reachable, key: key) != nil
    }
}
