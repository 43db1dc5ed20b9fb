/// Requests that wait for a free connection, first in, first out.
struct LegacyQueue {
    private var requests: ArraySlice<LegacyRequest> = []
    /// How many messages they carry.
    private(set) var messages = 0

    /// Queues requests behind the others.
    mutating func append(_ more: [LegacyRequest]) {
        requests.append(contentsOf: more)
        messages += more.reduce(0) { $0 + $1.rows.count }
    }

    /// Puts a request that could not be sent before the others.
    mutating func putBack(_ request: LegacyRequest) {
        requests.insert(request, at: requests.startIndex)
        messages += request.rows.count
    }

    /// Takes the first one.
    mutating func popFirst() -> LegacyRequest? {
        guard let first = requests.popFirst() else { return nil }
        messages -= first.rows.count
        return first
    }

    /// Takes all.
    mutating func takeAll() -> [LegacyRequest] {
        defer { self = LegacyQueue() }
        return Array(requests)
    }
}
