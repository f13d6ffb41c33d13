internal import Credentials
public import Lifecycle
internal import Transfers
public import Wire

/// Talks to a gateway over HTTP. A value: copy it freely, connections are shared.
public struct GatewayClient: Sendable {
    /// Where a gateway is unless told otherwise.
    public static let defaultURL = "http://127.0.0.1:8080"
    /// Most bytes of an answer that is no stream.
    private static let answerLimit = 64 << 20

    /// The gateway's address.
    public var url: String { address.url }
    private let address: Address
    private let token: String?
    private let seconds: Double

    /// A client of the gateway at an address.
    /// - Parameters:
    ///   - url: such as `http://127.0.0.1:8080`.
    ///   - token: sent as bearer token.
    ///   - seconds: how long an answer may take.
    /// - Throws: `ClientError.invalidURL`.
    public init(url: String = defaultURL, token: String? = nil, seconds: Double = 30) throws(ClientError) {
        address = try Address(url)
        self.token = token.flatMap { $0.isEmpty ? nil : $0 }
        self.seconds = seconds
    }

    /// A client of the gateway that `SKILLBUS_URL` names, with the token of `SKILLBUS_TOKEN`, or else of the file that
    /// `SKILLBUS_TOKEN_FILE` names. There is no option for it: what is on a command line everybody on the machine sees.
    /// - Parameters:
    ///   - override: an address that counts more than the variable.
    ///   - seconds: how long an answer may take.
    ///   - variables: the environment.
    /// - Returns: the client.
    /// - Throws: `ClientError.invalidURL`, `ClientError.noToken`.
    public static func fromEnvironment(
        url override: String? = nil,
        seconds: Double = 30,
        _ variables: [String: String] = Environment.all
    ) throws(ClientError) -> GatewayClient {
        func named(_ name: String) -> String? { variables[name].flatMap { $0.isEmpty ? nil : $0 } }
        var token = named("SKILLBUS_TOKEN")
        if token == nil, let file = named("SKILLBUS_TOKEN_FILE") {
            do throws(CredentialError) { token = try BearerToken.read(file) } catch {
                throw .noToken(reason: error.description)
            }
        }
        return try GatewayClient(url: override ?? named("SKILLBUS_URL") ?? defaultURL, token: token, seconds: seconds)
    }

    /// One call with a JSON answer, for what has no method here.
    /// - Throws: `ClientError`, among them `problem` for every status that is none of success.
    public func call(
        _ method: String,
        _ path: String,
        body: JSONValue? = nil,
        headers: [(name: String, value: String)] = []
    ) async throws(ClientError) -> JSONValue {
        var request = self.request(method, path)
        request.seconds = seconds
        request.headers += [("Accept", "application/json")] + headers
        if let body {
            request.headers.append(("Content-Type", "application/json"))
            do {
                request.body = try JSONBody.encode(body)
            } catch {
                throw .badResponse(url: url, reason: "\(error)")
            }
        }
        let head: TransferHead
        let whole: [UInt8]?
        do throws(TransferError) {
            let exchange = Exchange(request)
            head = try await exchange.head()
            whole = try await exchange.body(limit: GatewayClient.answerLimit)
        } catch {
            throw ClientError(error, url: url, request)
        }
        guard let answer = whole else {
            throw .badResponse(url: url, reason: "an answer of more than \(GatewayClient.answerLimit) bytes")
        }
        guard 200...299 ~= head.status else { throw problem(head, answer) }
        if answer.isEmpty { return .null }
        do {
            return try JSONBody.decode(JSONValue.self, from: answer)
        } catch {
            throw .badResponse(url: url, reason: "no JSON: \(error)")
        }
    }

    func request(_ method: String, _ path: String) -> TransferRequest {
        var headers = [(name: "User-Agent", value: "skillbus/\(Product.version)")]
        if let token { headers.append(("Authorization", "Bearer \(token)")) }
        return TransferRequest(method, address.url + path, headers: headers, ignoresProxies: address.isLoopback)
    }

    func problem(_ head: TransferHead, _ body: [UInt8]) -> ClientError {
        let retryAfter = head.value("retry-after").flatMap { Double($0) }
        return .problem(Problem(status: head.status, retryAfter: retryAfter, body: body))
    }

    /// Reads a member of an answer as a type.
    func decode<Value: Decodable>(_ type: Value.Type, from json: JSONValue) throws(ClientError) -> Value {
        do {
            return try JSONBody.decode(type, from: try JSONBody.encode(json))
        } catch {
            throw .badResponse(url: url, reason: "\(error)")
        }
    }
}
