import Foundation
import Synchronization

/// A clock that a test sets.
package final class ManualClock: Sendable {
    private let state: Mutex<[TimeInterval]>

    /// Shows the given offsets from the real time one after the other, and then keeps the last.
    package init(offsets: [TimeInterval] = [0]) {
        state = Mutex(offsets)
    }

    package var now: @Sendable () -> Date {
        { [self] in
            let offset = state.withLock { offsets in
                offsets.count > 1 ? offsets.removeFirst() : offsets.first ?? 0
            }
            return Date(timeIntervalSinceNow: offset)
        }
    }

    package func set(offset: TimeInterval) {
        state.withLock { $0 = [offset] }
    }
}
