internal import CLinux
internal import Glibc
internal import Synchronization

/// What a service tells the service manager that started it: systemd's notification protocol (sd_notify(3)), which is a
/// datagram to the socket that `NOTIFY_SOCKET` names. Without that variable nothing happens.
public enum ServiceManager {
    /// It serves.
    public static func notifyReady() { notify("READY=1") }

    /// It drains.
    public static func notifyStopping() { notify("STOPPING=1") }

    /// What it is doing, in words: `systemctl status` shows them.
    public static func notifyStatus(_ text: String) { notify("STATUS=\(text)") }

    /// What the service manager has told this process and nobody else. Whoever starts further processes takes these
    /// variables from them.
    public static let variables = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]

    private static func notify(_ message: String) {
        guard let socket = Environment.all["NOTIFY_SOCKET"], !socket.isEmpty else { return }
        _ = clinux_notify(socket, message)
    }

    /// Tells the service manager again and again that the loop which does the work still turns, if it asks for that
    /// (`WatchdogSec=`): a process that hangs is killed and started anew.
    /// - Parameters:
    ///   - turns: how often the loop has turned.
    ///   - wake: makes it turn once more; must not block.
    public static func keepAlive(turns: @escaping @Sendable () -> UInt64, wake: @escaping @Sendable () -> Void) {
        guard let interval = watchdogInterval(Environment.all, process: getpid()) else { return }
        startThread(named: "watchdog") {
            while true {
                let before = turns()
                wake()
                usleep(UInt32(clamping: interval))
                if turns() != before { notify("WATCHDOG=1") }
            }
        }
    }

    /// Microseconds between two signs of life: a third of what the manager waits. Nil when it does not wait for any of
    /// this process.
    static func watchdogInterval(_ variables: [String: String], process: Int32) -> Int? {
        guard let limit = variables["WATCHDOG_USEC"].flatMap(Int.init), limit > 0 else { return nil }
        if let meant = variables["WATCHDOG_PID"], Int32(meant) != process { return nil }
        return max(limit / 3, 1000)
    }
}

/// Counts the turns of a loop, for ``ServiceManager/keepAlive(turns:wake:)``. From any thread.
public final class TurnCount: Sendable {
    private let count = Atomic<UInt64>(0)

    /// No turn yet.
    public init() {}

    /// The loop has turned.
    public func add() { count.add(1, ordering: .relaxed) }

    /// How often it has.
    public var value: UInt64 { count.load(ordering: .relaxed) }
}
