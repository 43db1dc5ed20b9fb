import Logging
import ProcessEvents
import PushCore
import Synchronization

/// Sends reports to the database one at a time, retrying each until it is stored.
final class OrderedReports: Sendable {
    private struct State {
        var underWay: [String: Int] = [:]
        var last: Task<Void, Never>?
    }

    private let what: String
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter what: the subject of the reports, for the log.
    init(of what: String, logger: Logger) {
        self.what = what
        self.logger = logger
    }

    /// Whether the database may not have a report of this name yet.
    func isUnderWay(_ name: String) -> Bool { state.withLock { $0.underWay[name, default: 0] > 0 } }

    /// Whether the database may not have all reports yet.
    var isUnderWay: Bool { state.withLock { $0.underWay.values.contains { $0 > 0 } } }

    /// Returns when the database has all reports.
    func finished() async {
        await state.withLock { $0.last }?.value
    }

    /// Sends a report after all earlier ones are stored. It counts as under way from now on.
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
                        logger.failure("\(what) could not be stored, trying again", of: error)
                        try? await Task.sleep(for: backOff.next())
                    }
                }
                self.state.withLock { $0.underWay[name, default: 1] -= 1 }
            }
        }
    }
}
