import Foundation

@testable import MobileSDK

/// A storage that says when nobody has it any more.
final class EndingStorage: PushStorage {
    private let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void) {
        self.onEnd = onEnd
    }

    deinit {
        onEnd()
    }

    func read(_ name: String) throws -> Data? { nil }

    func write(_ data: Data, _ name: String) throws {}
}
