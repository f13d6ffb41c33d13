/// Which handler serves which method and path. A value, built once.
public struct HTTPRoutes: Sendable {
    /// Answers a request. A problem that it throws becomes the answer.
    public typealias Handler = @Sendable (HTTPRequest) async throws(HTTPProblem) -> HTTPResponse

    private struct Route: Sendable {
        var pattern: [String]
        var handlers: [(method: String, handler: Handler)]
    }
    private var routes: [Route] = []

    /// No routes.
    public init() {}

    /// Adds a route. A segment in braces stands for any segment and names it: `/v1/sessions/{id}`.
    public mutating func add(_ method: String, _ pattern: String, _ handler: @escaping Handler) {
        let segments = pattern.split(separator: "/").map(String.init)
        if let index = routes.firstIndex(where: { $0.pattern == segments }) {
            routes[index].handlers.append((method, handler))
        } else {
            routes.append(Route(pattern: segments, handlers: [(method, handler)]))
        }
    }

    /// Answers a request: by its handler, or with 404, or with 405 and the methods that there are. `HEAD` is served by
    /// the handler of `GET`, and `OPTIONS` lists the methods.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        do throws(HTTPProblem) {
            for route in routes {
                guard let parameters = HTTPRoutes.match(route.pattern, request.segments) else { continue }
                let method = request.method == "HEAD" ? "GET" : request.method
                if let handler = route.handlers.first(where: { $0.method == method })?.handler {
                    var request = request
                    request.parameters = parameters
                    return try await handler(request)
                }
                let allowed = HTTPRoutes.allowed(route)
                if method == "OPTIONS" { return HTTPResponse(status: 204, headers: ["Allow": allowed]) }
                throw HTTPProblem(
                    405,
                    "method_not_allowed",
                    "\(request.method.prefix(20)) is not possible here; \(allowed) are.",
                    headers: ["Allow": allowed]
                )
            }
            if request.method == "OPTIONS" && request.path == "*" { return HTTPResponse(status: 204) }
            throw HTTPProblem(404, "not_found", "There is nothing at \(request.path.prefix(200)).")
        } catch {
            return error.response
        }
    }

    private static func allowed(_ route: Route) -> String {
        var methods = route.handlers.map(\.method)
        if methods.contains("GET") { methods.append("HEAD") }
        return (methods + ["OPTIONS"]).joined(separator: ", ")
    }

    private static func match(_ pattern: [String], _ segments: [String]) -> [String: String]? {
        guard pattern.count == segments.count else { return nil }
        var parameters: [String: String] = [:]
        for (expected, segment) in zip(pattern, segments) {
            if expected.hasPrefix("{") {
                parameters[String(expected.dropFirst().dropLast())] = segment
            } else if expected != segment {
                return nil
            }
        }
        return parameters
    }
}
