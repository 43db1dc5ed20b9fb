import Synchronization

/// Conditions that any thread may set and that event loops check before each read. An unchanged version costs one load.
final class SharedConditions: Sendable {
    private let value: Mutex<GatewayConditions>
    private let versionNumber = Atomic<Int>(1)
    /// The use of the project's quota.
    let quota = ProjectQuota()
    private let observers = Mutex<[@Sendable () -> Void]>([])

    init(_ conditions: GatewayConditions) {
        value = Mutex(conditions)
    }

    /// A number that increases with each change.
    var version: Int { versionNumber.load(ordering: .acquiring) }

    var current: GatewayConditions { value.withLock { $0 } }

    /// Changes the conditions and calls the observers.
    func change(_ body: (inout GatewayConditions) -> Void) {
        value.withLock { body(&$0) }
        versionNumber.add(1, ordering: .releasing)
        for observer in observers.withLock({ $0 }) { observer() }
    }

    /// Adds a function to call after each change, on the thread that makes the change.
    func observe(_ observer: @escaping @Sendable () -> Void) {
        observers.withLock { $0.append(observer) }
    }
}

/// The use of a project's quota in messages per minute, over all event loops.
final class ProjectQuota: Sendable {
    /// A minute in nanoseconds.
    private static let minute: UInt64 = 60_000_000_000

    private let used = Mutex((since: UInt64(0), messages: 0))

    /// Whether the quota allows one more message. A minute begins with the first message after the previous minute.
    func takes(_ quota: Int, at nanoseconds: UInt64) -> Bool {
        used.withLock { used in
            if nanoseconds >= used.since + Self.minute { used = (nanoseconds, 0) }
            guard used.messages < quota else { return false }
            used.messages += 1
            return true
        }
    }
}
