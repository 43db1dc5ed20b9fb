/// A cache of values by delivery id. It evicts the least recently used ones when there are too many or they weigh too
/// much.
///
/// A lookup, an insertion and an eviction take constant time: a list links the values in the order of their last use.
struct RecentlyUsed<Value> {
    private struct Entry {
        let value: Value
        let weight: Int
        /// The id used next after this one; nil for the one used last.
        var newer: Int64?
        /// The id used last before this one; nil for the one unused for longest.
        var older: Int64?
    }

    private let maxEntries: Int
    private let maxWeight: Int
    private var entries: [Int64: Entry] = [:]
    private var newest: Int64?
    private var oldest: Int64?

    /// The total weight of the cached values.
    private(set) var weight = 0

    /// Makes an empty cache with a maximum number of values and a maximum total weight.
    init(maxEntries: Int, maxWeight: Int) {
        self.maxEntries = maxEntries
        self.maxWeight = maxWeight
    }

    /// The number of cached values.
    var count: Int { entries.count }

    /// Returns the value of an id, and makes it the most recently used one.
    mutating func use(_ id: Int64) -> Value? {
        guard let entry = entries[id] else { return nil }
        if newest != id {
            unlink(entry)
            link(entry, id)
        }
        return entry.value
    }

    /// Inserts or replaces the value of an id, and evicts what no longer fits. A value that alone exceeds the maximum
    /// weight is not cached.
    mutating func insert(_ value: Value, _ id: Int64, weight: Int) {
        remove(id)
        guard weight <= maxWeight, maxEntries > 0 else { return }
        while let last = oldest, entries.count >= maxEntries || self.weight + weight > maxWeight { remove(last) }
        link(Entry(value: value, weight: weight), id)
        self.weight += weight
    }

    /// Removes the value of an id, if there is one.
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
