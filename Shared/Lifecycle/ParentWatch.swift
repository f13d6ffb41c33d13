internal import Glibc

/// For `--exit-with-parent`: makes the process end when the one that started it is gone.
///
/// The parent keeps the other end of standard input open and never writes. However it ends, also by SIGKILL, the
/// kernel closes that end, and this process drains as if it had got SIGTERM. Call it after `terminationSignals()`, so
/// that the signal is caught.
/// - Parameter onEnd: what to do first, on the watching thread; such as a line in the log.
public func exitWhenParentDies(onEnd: @escaping @Sendable () -> Void = {}) {
    startThread(named: "parent") {
        var buffer: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        while true {
            let count = withUnsafeMutableBytes(of: &buffer) { read(0, $0.baseAddress, $0.count) }
            if count > 0 || (count < 0 && errno == EINTR) { continue }
            break
        }
        onEnd()
        kill(getpid(), SIGTERM)
    }
}
