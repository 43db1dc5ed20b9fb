import Synchronization

/// The number of open live pages of each session.
final class LiveStreams: Sendable {
    /// A browser opens six connections to a host: two are left for other pages.
    static let maxOfSession = 4

    private let open = Mutex<[[UInt8]: Int]>([:])

    /// Counts one more page of a session; false if it has the maximum.
    func enter(_ session: [UInt8]) -> Bool {
        open.withLock { open in
            guard open[session, default: 0] < Self.maxOfSession else { return false }
            open[session, default: 0] += 1
            return true
        }
    }

    /// The sessions that have live pages.
    var sessions: [[UInt8]] { open.withLock { Array($0.keys) } }

    /// Counts one page less of a session.
    func leave(_ session: [UInt8]) {
        open.withLock { open in
            let left = (open[session] ?? 1) - 1
            open[session] = left > 0 ? left : nil
        }
    }
}
