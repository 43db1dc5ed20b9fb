import Synchronization

/// Conditions that any thread sets and that event loops look at before each read: an unchanged version costs one load.
final class SharedConditions: Sendable {
    private let value: Mutex<GatewayConditions>
    private let versionNumber = Atomic<Int>(1)
    private let observers = Mutex<[@Sendable () -> Void]>([])

    init(_ conditions: GatewayConditions) {
        value = Mutex(conditions)
    }

    /// Counts up with each change.
    var version: Int { versionNumber.load(ordering: .acquiring) }

    /// The conditions now.
    var current: GatewayConditions { value.withLock { $0 } }

    /// Changes the conditions and wakes whoever has to act on them at once.
    func change(_ body: (inout GatewayConditions) -> Void) {
        value.withLock { body(&$0) }
        versionNumber.add(1, ordering: .releasing)
        for observer in observers.withLock({ $0 }) { observer() }
    }

    /// Has a function called after each change, on the thread that makes it.
    func observe(_ observer: @escaping @Sendable () -> Void) {
        observers.withLock { $0.append(observer) }
    }
}
