internal import CSodium

/// The public half of a CURVE key: who somebody is on the bus.
public struct PublicKey: Hashable, Sendable, CustomStringConvertible {
    /// Bytes of a key.
    public static let size = 32
    /// The key.
    public let bytes: [UInt8]

    /// A key of its 32 bytes; nil for any other number of them.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == PublicKey.size else { return nil }
        self.bytes = Array(bytes)
    }

    /// A key as it is written: 64 hexadecimal digits.
    public init?(_ text: some StringProtocol) {
        guard let bytes = Hexadecimal.bytes(text) else { return nil }
        self.init(bytes: bytes)
    }

    /// 64 hexadecimal digits.
    public var description: String { Hexadecimal.text(bytes) }
}

/// The secret half, in memory of its own that is kept out of core dumps and swap, and wiped at the end. It has no
/// description, so that no log can have it.
public final class SecretKey: Sendable, CustomStringConvertible {
    // Written in the initialiser only, read afterwards.
    private nonisolated(unsafe) let memory: UnsafeMutableRawPointer

    /// Fills 32 bytes.
    init(fill: (UnsafeMutablePointer<UInt8>) -> Void) throws(CredentialError) {
        guard Sodium.isReady, let memory = sodium_malloc(PublicKey.size) else {
            throw .invalid("no protected memory for a secret key")
        }
        self.memory = memory
        fill(memory.assumingMemoryBound(to: UInt8.self))
    }

    deinit { sodium_free(memory) }

    /// The 32 bytes, for as long as the closure runs.
    public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(start: memory, count: PublicKey.size))
    }

    /// Nothing of the key.
    public var description: String { "secret" }
}

/// Both halves.
public struct KeyPair: Sendable {
    /// What others know.
    public let publicKey: PublicKey
    /// What nobody else knows.
    public let secretKey: SecretKey

    /// A new pair.
    /// - Throws: `CredentialError` when there is no memory for it.
    public static func make() throws(CredentialError) -> KeyPair {
        var open = [UInt8](repeating: 0, count: PublicKey.size)
        let secret = try SecretKey { crypto_box_keypair(&open, $0) }
        return try KeyPair(secret)
    }

    /// The pair of a secret key, whose public half follows from it.
    init(_ secret: SecretKey) throws(CredentialError) {
        var open = [UInt8](repeating: 0, count: PublicKey.size)
        let failure = secret.withBytes { bytes in
            bytes.withMemoryRebound(to: UInt8.self) { bytes in
                bytes.baseAddress.map { crypto_scalarmult_base(&open, $0) } ?? -1
            }
        }
        guard failure == 0, let key = PublicKey(bytes: open) else { throw .invalid("that is no secret key") }
        publicKey = key
        secretKey = secret
    }
}

enum Sodium {
    /// Whether the library works: it must be asked once before anything else, by whichever thread comes first.
    static let isReady = sodium_init() >= 0
}

/// Hexadecimal digits, read and written in constant time: secrets are among what is.
enum Hexadecimal {
    static func text(_ bytes: some Collection<UInt8>) -> String {
        let bytes = Array(bytes)
        var text = [CChar](repeating: 0, count: bytes.count * 2 + 1)
        sodium_bin2hex(&text, text.count, bytes, bytes.count)
        return String(decoding: text.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Nil for anything that is not an even number of digits.
    static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let digits = text.utf8.map { CChar(bitPattern: $0) }
        guard digits.count % 2 == 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: digits.count / 2)
        var count = 0
        guard sodium_hex2bin(&bytes, bytes.count, digits, digits.count, nil, &count, nil) == 0, count == bytes.count
        else { return nil }
        return bytes
    }
}
