internal import CSodium

/// A fingerprint of bytes that nobody can make equal for different ones: BLAKE2b of 32 bytes.
public struct Digest: Hashable, Sendable {
    private struct Words: Hashable, Sendable {
        var first: UInt64 = 0
        var second: UInt64 = 0
        var third: UInt64 = 0
        var fourth: UInt64 = 0
    }
    private let words: Words

    /// Makes one part by part.
    /// - Parameter parts: Calls the closure that it is given with each part; how the bytes are divided does not matter.
    /// - Throws: What `parts` throws.
    public init<Failure: Error>(
        of parts: ((UnsafeRawBufferPointer) -> Void) throws(Failure) -> Void
    ) throws(Failure) {
        _ = Sodium.isReady
        // Of a size that only the library knows.
        let memory = UnsafeMutableRawPointer.allocate(byteCount: crypto_generichash_statebytes(), alignment: 64)
        defer { memory.deallocate() }
        let state = OpaquePointer(memory)
        crypto_generichash_init(state, nil, 0, MemoryLayout<Words>.size)
        try parts { part in
            guard let start = part.bindMemory(to: UInt8.self).baseAddress else { return }
            crypto_generichash_update(state, start, UInt64(part.count))
        }
        var words = Words()
        withUnsafeMutableBytes(of: &words) { bytes in
            guard let start = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
            crypto_generichash_final(state, start, bytes.count)
        }
        self.words = words
    }
}
