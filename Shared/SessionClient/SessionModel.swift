public import Observation
internal import Wire

/// A session for a user interface: the view of its events, whether there is a connection, and what a user does.
@MainActor
@Observable
public final class SessionModel {
    /// What is shown.
    public private(set) var view = SessionView()
    /// Whether events are coming in.
    public private(set) var isConnected = false
    /// What went wrong last; nil once it works again.
    public private(set) var problem: ClientError?
    /// The session; nil before the first request.
    public private(set) var session: String?

    @ObservationIgnored private let client: GatewayClient
    @ObservationIgnored private var following: Task<Void, Never>?

    /// A model of a session that exists, or of one that the first request makes.
    public init(client: GatewayClient, session: String? = nil) {
        self.client = client
        self.session = session
        if session != nil { follow() }
    }

    /// Makes a request. What comes of it shows in ``view``.
    /// - Returns: the request's id; nil when it failed, as ``problem`` says.
    @discardableResult
    public func send(_ request: NewRequest) async -> String? {
        do throws(ClientError) {
            let id: String
            if let session {
                id = session
            } else {
                id = try await client.createSession()
                session = id
            }
            if following == nil { follow() }
            let request = try await client.submit(request, in: id)
            problem = nil
            return request
        } catch {
            problem = error
            return nil
        }
    }

    /// Cancels a request.
    public func cancel(_ request: String) async {
        guard let session else { return }
        do throws(ClientError) { try await client.cancel(request, in: session) } catch { problem = error }
    }

    /// Stops following. Requests go on.
    public func leave() {
        following?.cancel()
        following = nil
        isConnected = false
    }

    /// Follows the session from where the view is.
    public func follow() {
        guard let session else { return }
        following?.cancel()
        let events = client.events(of: session, after: view.lastSeq == 0 ? nil : view.lastSeq, patience: nil)
        following = Task { [weak self] in
            do throws(ClientError) {
                for try await update in events {
                    guard let self else { return }
                    take(update)
                }
            } catch {
                self?.problem = error
                self?.isConnected = false
            }
        }
    }

    private func take(_ update: EventStream.Update) {
        switch update {
        case .connected:
            isConnected = true
            problem = nil
        case .disconnected(let error, _):
            isConnected = false
            problem = error
        case .event(let event): view.apply(event)
        }
    }

    isolated deinit { following?.cancel() }
}
