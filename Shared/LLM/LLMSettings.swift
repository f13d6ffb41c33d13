internal import Credentials
public import Lifecycle

extension LLMClient {
    /// The client that the environment describes; nil where it names no endpoint.
    ///
    /// `SKILLBUS_LLM_URL` is the address, `SKILLBUS_LLM_MODEL` the model, `SKILLBUS_LLM_KEY` or the file that
    /// `SKILLBUS_LLM_KEY_FILE` names the key. Endpoints to fall back on have the same variables with `_2` to `_9` behind
    /// their names. There is no option for a key: what is on a command line everybody on the machine sees.
    /// - Parameter variables: the environment.
    /// - Returns: the client.
    /// - Throws: `LLMError` of the kind `configuration`.
    public static func fromEnvironment(
        _ variables: [String: String] = Environment.all
    ) throws(LLMError) -> LLMClient? {
        func value(_ name: String) -> String? { variables[name].flatMap { $0.isEmpty ? nil : $0 } }
        var endpoints: [Endpoint] = []
        for number in 1...9 {
            let suffix = number == 1 ? "" : "_\(number)"
            guard let url = value("SKILLBUS_LLM_URL\(suffix)") else {
                if number == 1 { return nil }
                continue
            }
            let key = try key(value("SKILLBUS_LLM_KEY\(suffix)"), file: value("SKILLBUS_LLM_KEY_FILE\(suffix)"), suffix)
            endpoints.append(try Endpoint(url: url, model: value("SKILLBUS_LLM_MODEL\(suffix)") ?? "", key: key))
        }
        func seconds(_ name: String, _ usual: Double) throws(LLMError) -> Double {
            guard let text = value(name) else { return usual }
            guard let number = Double(text), number.isFinite, 0.001...86_400 ~= number else {
                throw LLMError(.configuration, "\(name) must be a number of seconds, up to 86400")
            }
            return number
        }
        var timeouts = LLMTimeouts()
        timeouts.connect = try seconds("SKILLBUS_LLM_CONNECT_SECONDS", timeouts.connect)
        timeouts.firstToken = try seconds("SKILLBUS_LLM_FIRST_TOKEN_SECONDS", timeouts.firstToken)
        timeouts.idle = try seconds("SKILLBUS_LLM_IDLE_SECONDS", timeouts.idle)
        timeouts.total = try seconds("SKILLBUS_LLM_TOTAL_SECONDS", timeouts.total)
        var concurrency = 16
        if let text = value("SKILLBUS_LLM_CONCURRENCY") {
            guard let number = Int(text), 1...4096 ~= number else {
                throw LLMError(.configuration, "SKILLBUS_LLM_CONCURRENCY must be a number of calls, 1 to 4096")
            }
            concurrency = number
        }
        return LLMClient(endpoints, timeouts: timeouts, concurrency: concurrency)
    }

    private static func key(_ text: String?, file: String?, _ suffix: String) throws(LLMError) -> APIKey? {
        var name = "SKILLBUS_LLM_KEY\(suffix)"
        var secret = text
        if secret == nil, let file {
            name = "SKILLBUS_LLM_KEY_FILE\(suffix)"
            do throws(CredentialError) { secret = try PasswordFile.read(file) } catch {
                throw LLMError(.configuration, "\(name): \(error.description)")
            }
        }
        guard let secret else { return nil }
        guard let key = APIKey(secret) else {
            throw LLMError(.configuration, "\(name) holds no key: a key is one line of letters, digits and signs")
        }
        return key
    }
}
