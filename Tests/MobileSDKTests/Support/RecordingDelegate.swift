@testable import MobileSDK

/// Keeps the outcomes that it is told, and lets a test wait for them.
@MainActor final class RecordingDelegate: PushClientDelegate {
    private(set) var outcomes: [RegistrationOutcome] = []
    private var watchers: [CheckedContinuation<Void, Never>] = []

    nonisolated init() {}

    func registerDeviceStatus(_ outcome: RegistrationOutcome) {
        outcomes.append(outcome)
        for watcher in watchers { watcher.resume() }
        watchers = []
    }

    func outcomes(atLeast count: Int) async -> [RegistrationOutcome] {
        while outcomes.count < count {
            await withCheckedContinuation { watchers.append($0) }
        }
        return outcomes
    }
}
