@testable import MobileSDK

/// A clock that stands until a test lets the waits end.
actor ManualClock: PushClock {
    private var waits: [(seconds: Double, continuation: CheckedContinuation<Void, Never>)] = []
    private var watchers: [CheckedContinuation<Void, Never>] = []

    func sleep(seconds: Double) async throws {
        await withCheckedContinuation { continuation in
            waits.append((seconds, continuation))
            for watcher in watchers { watcher.resume() }
            watchers = []
        }
    }

    /// Waits until somebody waits, and ends that wait.
    func advance() async -> Double {
        while waits.isEmpty {
            await withCheckedContinuation { watchers.append($0) }
        }
        let wait = waits.removeFirst()
        wait.continuation.resume()
        return wait.seconds
    }
}
