/// Values by the id of their delivery, of which the least recently used go first once there are too many or they weigh too much.
///
/// A look-up, an insertion and an eviction each take constant time: the values are linked in the order of their last use.
struct RecentlyUsed<Value> {
    private struct Entry {
        let value: Value
        let weight: Int
        /// The id used next after this one; nil for the one used last.
        var newer: Int64?
        /// The id used last before this one; nil for the one unused for longest.
        var older: Int64?
    }

    private let mostEntries: Int
    private let mostWeight: Int
    private var entries: [Int64: Entry] = [:]
    private var newest: Int64?
    private var oldest: Int64?

    /// The weight of all values that are kept.
    private(set) var weight = 0

    /// Makes an empty set of values that keeps at most so many, of so much weight together.
    init(mostEntries: Int, mostWeight: Int) {
        self.mostEntries = mostEntries
        self.mostWeight = mostWeight
    }

    /// The number of values that are kept.
    var count: Int { entries.count }

    /// The value of an id, which is then the one used last.
    mutating func use(_ id: Int64) -> Value? {
        guard let entry = entries[id] else { return nil }
        if newest != id {
            unlink(entry)
            link(entry, id)
        }
        return entry.value
    }

    /// Keeps a value, in the place of another one of its id, and drops what there is then no room for. One that by itself weighs
    /// more than all may is not kept.
    mutating func insert(_ value: Value, _ id: Int64, weight: Int) {
        remove(id)
        guard weight <= mostWeight, mostEntries > 0 else { return }
        while let last = oldest, entries.count >= mostEntries || self.weight + weight > mostWeight { remove(last) }
        link(Entry(value: value, weight: weight), id)
        self.weight += weight
    }

    /// Drops the value of an id, if there is one.
    mutating func remove(_ id: Int64) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        unlink(entry)
        weight -= entry.weight
    }

    private mutating func link(_ entry: Entry, _ id: Int64) {
        var entry = entry
        (entry.older, entry.newer) = (newest, nil)
        entries[id] = entry
        if let newest { entries[newest]?.newer = id } else { oldest = id }
        newest = id
    }

    private mutating func unlink(_ entry: Entry) {
        if let newer = entry.newer { entries[newer]?.older = entry.older } else { newest = entry.older }
        if let older = entry.older { entries[older]?.newer = entry.newer } else { oldest = entry.newer }
    }
}
