import Bus
import Testing

struct RouterAddressTests {
    @Test(arguments: [
        ("127.0.0.1", ["tcp://127.0.0.1:5556"]), ("router", ["tcp://router:5556"]),
        ("a:1, b:2", ["tcp://a:1", "tcp://b:2"]), ("ipc:///tmp/x", ["ipc:///tmp/x"]),
        ("[::1]:99", ["tcp://[::1]:99"]), ("::1", ["tcp://[::1]:5556"]), ("[::1]", ["tcp://[::1]:5556"]),
        ("tcp://h:7,x", ["tcp://h:7", "tcp://x:5556"]),
    ])
    func whatPeopleWriteIsUnderstood(_ text: String, _ endpoints: [String]) throws {
        #expect(try RouterAddress.endpoints(text, defaultPort: 5556) == endpoints)
    }

    @Test(arguments: ["", " , ", "host:", "host:0", "host:70000", "host:x", "http://host", ":5"])
    func whatIsNoneIsRefused(_ text: String) {
        #expect(throws: RouterAddress.Invalid.self) { try RouterAddress.endpoints(text, defaultPort: 1) }
    }

    @Test func onlyLoopbackAndFilesAreLocal() {
        for local in ["ipc:///x", "tcp://127.0.0.1:5", "tcp://127.9.9.9:*", "tcp://localhost:5", "tcp://[::1]:5"] {
            #expect(RouterAddress.isLocal(local))
        }
        for wide in ["tcp://0.0.0.0:5", "tcp://*:5", "tcp://10.0.0.1:5", "tcp://[::]:5", "tcp://127.evil.example:5"] {
            #expect(!RouterAddress.isLocal(wide), "\(wide)")
        }
    }
}
