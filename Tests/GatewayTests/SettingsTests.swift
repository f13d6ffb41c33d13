import Glibc
import HTTPServer
import Lifecycle
import SessionStore
import TestSupport
import Testing

@testable import Gateway

@Suite struct SettingsTests {
    private func settings(_ arguments: String..., environment: [String: String] = [:]) throws -> Settings {
        try Settings(Settings.command.parse(arguments, environment: environment))
    }

    private func refusal(_ arguments: String...) -> String {
        do {
            _ = try Settings(Settings.command.parse(arguments, environment: [:]))
            return ""
        } catch { return error.description }
    }

    @Test func withoutOptionsItListensOnLoopback() throws {
        let settings = try settings(environment: ["SKILLBUS_STATE": "/var/lib/x/"])
        #expect(settings.host == "127.0.0.1" && settings.port == 8080 && settings.isLocal)
        #expect(settings.routers == ["tcp://127.0.0.1:5555"] && settings.state == "/var/lib/x")
    }

    @Test func anOptionComesBeforeItsVariable() throws {
        let environment = ["SKILLBUS_HTTP": "127.0.0.1:1", "SKILLBUS_ROUTERS": "router"]
        #expect(try settings(environment: environment).port == 1)
        #expect(try settings("--http", "localhost:2", environment: environment).port == 2)
        #expect(try settings(environment: environment).routers == ["tcp://router:5555"])
    }

    @Test(arguments: ["0.0.0.0:8080", "[::]:8080", "192.168.1.1:80", "example.org:80"])
    func aWideAddressNeedsConsent(_ address: String) throws {
        #expect(refusal("--http", address).contains("--allow-insecure"))
        #expect(try settings("--http", address, "--allow-insecure").isLocal == false)
        #expect(try settings("--http", address, environment: ["SKILLBUS_ALLOW_INSECURE": "1"]).isLocal == false)
    }

    @Test func aStoreIsAnAddressWithoutAPasswordOnTheCommandLine() throws {
        #expect(try settings().store == nil && settings().lease == 15_000)
        let url = "postgres://me:hidden@host/db"
        let refused = refusal("--store", url)
        #expect(refused.contains("--store-password") && !refused.contains("hidden"))
        #expect(refusal("--store", "postgres://me@host/db?password=hidden").contains("--store-password"))
        #expect(refusal("--store", "mysql://me@host/db").contains("postgres://"))
        #expect(refusal("--store", " ").contains("--store is empty"))
        #expect(refusal("--lease", "0.5").contains("1 to 3600"))
        let store = try #require(try settings("--lease", "3", environment: ["SKILLBUS_STORE": url]).store)
        #expect(store.text == "postgres://me@host/db" && store.password == "hidden")
    }

    @Test func aPasswordFileIsForThisUserOnly() throws {
        let folder = try TemporaryFolder()
        try folder.write("password", "hidden\n")
        let path = folder.file("password")
        chmod(path, 0o644)
        #expect(refusal("--store", "postgres://me@host/db", "--store-password", path).contains("chmod 600"))
        chmod(path, 0o600)
        let read = try settings("--store", "postgres://me@host/db", "--store-password", path)
        #expect(read.store?.password == "hidden")
        #expect(refusal("--store", "postgres://me@host/db", "--store-password", "/nowhere").contains("/nowhere"))
    }

    @Test func commandLinesMayBeReadAtTheSameTime() async {
        await withTaskGroup(of: Bool.self) { group in
            for number in 1...400 {
                group.addTask { (try? self.settings("--http", "localhost:\(number)").port) == number }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    @Test(arguments: ["127.0.0.1:0", "127.9.9.9:1", "localhost:80", "[::1]:80", ":80"])
    func theseAreLocal(_ address: String) throws { #expect(try settings("--http", address).isLocal) }

    @Test(arguments: ["", "8080", "host:", "host:x", "host:65536", "host:-1", "[::1:80", "http://x:80"])
    func whatIsNoAddressIsNamed(_ address: String) {
        #expect(refusal("--http=\(address)").contains("--http") || address.isEmpty)
    }

    @Test func theNumberOfStreamsIsChecked() throws {
        #expect(try settings().streams == 500 && GatewayRoutes.limits().connections == 1000)
        #expect(try settings(environment: ["SKILLBUS_STREAMS": "2000"]).streams == 2000)
        #expect(GatewayRoutes.limits(streams: 2000).connections == 2500)
        for wrong in ["0", "-1", "many", "100001"] { #expect(refusal("--streams", wrong).contains("--streams")) }
    }

    @Test func routersAreAList() throws {
        #expect(try settings("--routers", "a, b:7000").routers == ["tcp://a:5555", "tcp://b:7000"])
        #expect(refusal("--routers", "a,b:x").contains("--routers"))
        #expect(refusal("--routers", ",").contains("--routers"))
    }
}
