/// How long to wait before a process that ended is started again. A value.
struct RestartPolicy: Equatable {
    /// One that ran so long is sound: it is started again at once.
    private static let sound = Duration.seconds(20)
    private static let first = Duration.milliseconds(100)
    private static let longest = Duration.seconds(10)

    /// How often it ended in a row without having run for long.
    private(set) var failures = 0

    /// It ended after it ran for so long: the pause before the next start.
    mutating func ended(after life: Duration) -> Duration {
        if life >= RestartPolicy.sound { failures = 0 }
        failures += 1
        return min(RestartPolicy.first * (1 << min(failures - 1, 10)), RestartPolicy.longest)
    }
}
