import Foundation
import Synchronization

/// A clock that a test sets.
final class ManualClock: Sendable {
    private let state: Mutex<[TimeInterval]>

    /// Shows the given offsets from the real time one after the other, the last for ever.
    init(offsets: [TimeInterval] = [0]) {
        state = Mutex(offsets)
    }

    var now: @Sendable () -> Date {
        { [self] in
            let offset = state.withLock { offsets in
                offsets.count > 1 ? offsets.removeFirst() : offsets.first ?? 0
            }
            return Date(timeIntervalSinceNow: offset)
        }
    }

    func set(offset: TimeInterval) {
        state.withLock { $0 = [offset] }
    }
}
