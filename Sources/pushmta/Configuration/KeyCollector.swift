import Synchronization

/// Collects the keys of a settings file while the library parses it.
final class KeyCollector: Sendable {
    private let keys = Mutex<[String]>([])

    /// Notes a key.
    func add(_ key: String) {
        keys.withLock { $0.append(key) }
    }

    /// All keys noted so far, sorted.
    var all: [String] {
        keys.withLock { $0.sorted() }
    }
}
