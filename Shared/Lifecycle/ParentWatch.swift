internal import Glibc

/// For `--exit-with-parent`: makes the process end when the one that started it is gone.
///
/// The parent keeps the other end of standard input open and never writes. However it ends, also by SIGKILL, the
/// kernel closes that end, and this process drains as if it had got SIGTERM. But only for a moment: nobody is left who
/// would end router, gateway and workers in their order, so that one may wait for what another has ended already. What
/// is not done by then is done again by those that are started next. Call it after `terminationSignals()`, so that the
/// signal is caught.
/// - Parameters:
///   - grace: how long draining may take.
///   - onEnd: what to do first, on the watching thread; such as a line in the log.
public func exitWhenParentDies(
    grace: Duration = .seconds(3),
    onEnd: @escaping @Sendable () -> Void = {}
) {
    startThread(named: "parent") {
        var buffer: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        while true {
            let count = withUnsafeMutableBytes(of: &buffer) { read(0, $0.baseAddress, $0.count) }
            if count > 0 || (count < 0 && errno == EINTR) { continue }
            break
        }
        onEnd()
        kill(getpid(), SIGTERM)
        let end = ContinuousClock.now + grace
        while ContinuousClock.now < end { usleep(50_000) }
        _exit(ExitCode.failure)
    }
}
