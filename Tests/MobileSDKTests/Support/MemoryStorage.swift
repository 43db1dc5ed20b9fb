import Foundation
import Synchronization

@testable import MobileSDK

/// A storage that a client leaves behind for the next one.
final class MemoryStorage: PushStorage {
    struct Full: Error {}

    private let files = Mutex<[String: Data]>([:])
    private let isFull: Bool

    init(_ files: [String: Data] = [:], isFull: Bool = false) {
        self.isFull = isFull
        self.files.withLock { $0 = files }
    }

    func read(_ name: String) throws -> Data? {
        files.withLock { $0[name] }
    }

    func write(_ data: Data, _ name: String) throws {
        guard !isFull else { throw Full() }
        files.withLock { $0[name] = data }
    }
}
