import Synchronization

/// The feedback service's lists: by topic, the tokens whose app was found removed since the last query.
final class FeedbackBook: Sendable {
    /// A token that the gateway has found invalid.
    struct Entry: Sendable, Hashable {
        var token: [UInt8]
        /// Seconds since 1970.
        var since: UInt32
    }

    /// The tokens of a topic, in the order of arrival.
    private struct List {
        var entries: [Entry] = []
        var known: Set<[UInt8]> = []
    }

    private let lists = Mutex<[String: List]>([:])

    /// Adds a token to a topic's list, unless it is already in it.
    func add(_ token: [UInt8], since: UInt32, topic: String) {
        lists.withLock { lists in
            guard lists[topic, default: List()].known.insert(token).inserted else { return }
            lists[topic]?.entries.append(Entry(token: token, since: since))
        }
    }

    /// Adds tokens in hexadecimal digits. Adds nothing if one of them is not a token.
    func add(_ tokens: [String], sinceMilliseconds: Int64, topic: String) -> Bool {
        let bytes = tokens.compactMap { APNsDeviceToken.bytes(of: $0) }
        guard bytes.count == tokens.count else { return false }
        for token in bytes { add(token, since: UInt32(clamping: sinceMilliseconds / 1_000), topic: topic) }
        return true
    }

    /// The entries in the lists of these topics.
    func entries(_ topics: [String]) -> [Entry] {
        lists.withLock { lists in topics.flatMap { lists[$0]?.entries ?? [] } }
    }

    func forget(_ entries: [Entry], _ topics: [String]) {
        let known = Set(entries)
        lists.withLock { lists in
            for topic in topics {
                lists[topic]?.entries.removeAll { known.contains($0) }
                lists[topic]?.known.subtract(known.map(\.token))
            }
        }
    }

    /// The number of tokens in all lists.
    var count: Int { lists.withLock { $0.values.reduce(0) { $0 + $1.entries.count } } }
}
