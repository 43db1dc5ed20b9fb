import Synchronization

/// What the feedback service has to tell: by topic, the tokens whose app was found to be gone since it was asked last.
final class FeedbackBook: Sendable {
    /// A token of whose death the gateway has learnt.
    struct Entry: Sendable, Hashable {
        var token: [UInt8]
        /// Seconds since 1970.
        var since: UInt32
    }

    /// The tokens of a topic in the order in which they came.
    private struct List {
        var entries: [Entry] = []
        var known: Set<[UInt8]> = []
    }

    private let lists = Mutex<[String: List]>([:])

    /// Adds a token to a topic's list, unless it is there already.
    func add(_ token: [UInt8], since: UInt32, topic: String) {
        lists.withLock { lists in
            guard lists[topic, default: List()].known.insert(token).inserted else { return }
            lists[topic]?.entries.append(Entry(token: token, since: since))
        }
    }

    /// Adds tokens that are given in hexadecimal digits; nothing if one of them is none.
    func add(_ tokens: [String], sinceMilliseconds: Int64, topic: String) -> Bool {
        let bytes = tokens.compactMap { APNsDeviceToken.bytes(of: $0) }
        guard bytes.count == tokens.count else { return false }
        for token in bytes { add(token, since: UInt32(clamping: sinceMilliseconds / 1_000), topic: topic) }
        return true
    }

    /// What stands in the lists of those topics.
    func entries(_ topics: [String]) -> [Entry] {
        lists.withLock { lists in topics.flatMap { lists[$0]?.entries ?? [] } }
    }

    /// Forgets what was read.
    func forget(_ entries: [Entry], _ topics: [String]) {
        let known = Set(entries)
        lists.withLock { lists in
            for topic in topics {
                lists[topic]?.entries.removeAll { known.contains($0) }
                lists[topic]?.known.subtract(known.map(\.token))
            }
        }
    }

    /// How many tokens stand in all lists.
    var count: Int { lists.withLock { $0.values.reduce(0) { $0 + $1.entries.count } } }
}
