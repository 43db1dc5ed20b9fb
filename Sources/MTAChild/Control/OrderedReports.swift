import Logging
import PushCore
import Synchronization

/// Tells the database what this child has found, one thing after the other, each until the database has it.
final class OrderedReports: Sendable {
    private struct State {
        var underWay: [String: Int] = [:]
        var last: Task<Void, Never>?
    }

    private let what: String
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter what: the thing that is told of, for the log.
    init(of what: String, logger: Logger) {
        self.what = what
        self.logger = logger
    }

    /// Whether the database may not know yet what was told under a name.
    func isUnderWay(_ name: String) -> Bool { state.withLock { $0.underWay[name, default: 0] > 0 } }

    /// Whether the database may not know all yet.
    var isUnderWay: Bool { state.withLock { $0.underWay.values.contains { $0 > 0 } } }

    /// Returns when the database knows everything.
    func finished() async {
        await state.withLock { $0.last }?.value
    }

    /// Tells it as soon as what was told before is known. It counts as under way from now on.
    func tell(_ name: String, _ change: @escaping @Sendable () async throws -> Void) {
        state.withLock { state in
            state.underWay[name, default: 0] += 1
            let before = state.last
            state.last = Task {
                await before?.value
                var backOff = BackOff(initial: .milliseconds(200), maximum: .seconds(5))
                while !Task.isCancelled {
                    do {
                        try await change()
                        break
                    } catch {
                        logger.warning("\(what) could not be stored, trying again: \(error)")
                        try? await Task.sleep(for: backOff.next())
                    }
                }
                self.state.withLock { $0.underWay[name, default: 1] -= 1 }
            }
        }
    }
}
