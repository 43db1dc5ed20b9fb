/// A cache of values by key. It evicts the least recently used ones when there are too many or they weigh too
/// much.
///
/// A lookup, an insertion and an eviction take constant time: a list links the values in the order of their last use.
struct RecentlyUsed<Key: Hashable & Sendable, Value> {
    private struct Entry {
        let value: Value
        let weight: Int
        /// The key used next after this one; nil for the one used last.
        var newer: Key?
        /// The key used last before this one; nil for the one unused for longest.
        var older: Key?
    }

    private let maxEntries: Int
    private let maxWeight: Int
    private var entries: [Key: Entry] = [:]
    private var newest: Key?
    private var oldest: Key?

    /// The total weight of the cached values.
    private(set) var weight = 0

    /// Makes an empty cache with a maximum number of values and a maximum total weight.
    init(maxEntries: Int, maxWeight: Int) {
        self.maxEntries = maxEntries
        self.maxWeight = maxWeight
    }

    /// The number of cached values.
    var count: Int { entries.count }

    /// Returns the value of a key, and makes it the most recently used one.
    mutating func use(_ key: Key) -> Value? {
        guard let entry = entries[key] else { return nil }
        if newest != key {
            unlink(entry)
            link(entry, key)
        }
        return entry.value
    }

    /// Inserts or replaces the value of a key, and evicts what no longer fits. A value that alone exceeds the maximum
    /// weight is not cached.
    mutating func insert(_ value: Value, _ key: Key, weight: Int) {
        remove(key)
        guard weight <= maxWeight, maxEntries > 0 else { return }
        while let last = oldest, entries.count >= maxEntries || self.weight + weight > maxWeight { remove(last) }
        link(Entry(value: value, weight: weight), key)
        self.weight += weight
    }

    /// Removes the value of a key, if there is one.
    mutating func remove(_ key: Key) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        unlink(entry)
        weight -= entry.weight
    }

    private mutating func link(_ entry: Entry, _ key: Key) {
        var entry = entry
        (entry.older, entry.newer) = (newest, nil)
        entries[key] = entry
        if let newest { entries[newest]?.newer = key } else { oldest = key }
        newest = key
    }

    private mutating func unlink(_ entry: Entry) {
        if let newer = entry.newer { entries[newer]?.older = entry.older } else { newest = entry.older }
        if let older = entry.older { entries[older]?.newer = entry.newer } else { oldest = entry.newer }
    }
}
