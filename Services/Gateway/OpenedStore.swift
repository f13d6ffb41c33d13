internal import Glibc
internal import SessionStore
internal import Telemetry
internal import Wire

/// The store that a gateway was told to use.
enum OpenedStore {
    /// Opens it. A server that is not there yet is waited for: processes may start in any order.
    /// - Returns: The store, and the gateway's name, which is kept in the state folder in any case.
    /// - Throws: `StoreError` when waiting would not help.
    static func open(
        _ settings: Settings,
        log: Log
    ) async throws(StoreError) -> (store: any SessionStore, name: String) {
        guard let address = settings.store else {
            let store = try SQLiteSessionStore(folder: settings.state)
            return (store, try GatewayName.read(in: settings.state))
        }
        // Held until the process ends: two gateways of one name would take each other's requests.
        try StateFolder.lock(settings.state)
        let name = try GatewayName.read(in: settings.state)
        var isFirst = true
        while true {
            do throws(StoreError) {
                return (try await PostgresSessionStore(address, name: name, lease: settings.lease), name)
            } catch {
                guard error.isTransient else { throw error }
                if isFirst {
                    log.warning("waiting for the store", ["store": .text(address.shown), "reason": "\(error)"])
                }
                isFirst = false
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }
}
