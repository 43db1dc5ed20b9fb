import Synchronization

/// The open live pages of each session.
///
/// A session that opens one too many ends its oldest. A browser that goes from page to page leaves streams behind, and
/// the server notices that late.
final class LiveStreams: Sendable {
    private struct State {
        var last = 0
        /// The numbers of the open streams, the oldest first.
        var open: [[UInt8]: [Int]] = [:]
    }

    /// A browser opens six connections to a host: two are left for other pages.
    static let maxOfSession = 4

    private let state = Mutex(State())

    /// Adds a page of a session, and ends the session's oldest page if it has too many.
    ///
    /// - Returns: the number of the page's stream.
    func enter(_ session: [UInt8]) -> Int {
        state.withLock { state in
            state.last += 1
            let streams = state.open[session, default: []] + [state.last]
            state.open[session] = Array(streams.suffix(Self.maxOfSession))
            return state.last
        }
    }

    /// Whether a page may go on: it has neither left nor made room for a newer one.
    func isOpen(_ stream: Int, of session: [UInt8]) -> Bool {
        state.withLock { $0.open[session]?.contains(stream) ?? false }
    }

    /// The sessions that have live pages.
    var sessions: [[UInt8]] { state.withLock { Array($0.open.keys) } }

    /// Removes a page of a session.
    func leave(_ stream: Int, of session: [UInt8]) {
        state.withLock { state in
            let left = (state.open[session] ?? []).filter { $0 != stream }
            state.open[session] = left.isEmpty ? nil : left
        }
    }
}
