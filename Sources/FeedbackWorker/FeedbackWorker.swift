import Logging
import PushCore
import Store
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The process that does what nobody waits for: it asks feedback services for dead tokens, applies what gateways said about tokens,
/// counts outcomes and hits, loads what web processes left on disk, and throws away what is old.
///
/// Any number of them may run. One acts, the others stand by; which one is decided in the database, and each piece of work is fenced by
/// that decision. It knows no signals: the command line calls ``drain()``.
public final class FeedbackWorker: Sendable {
    let setup: FeedbackSetup
    /// Its id in `feedback_worker`.
    public let id: String
    let progress = FeedbackProgress()
    private let task = Mutex<Task<Void, Never>?>(nil)
    private let isDraining = Mutex(false)

    /// Makes a worker that has not started.
    public init(_ setup: FeedbackSetup) {
        self.setup = setup
        id = UUID().uuidString.lowercased()
    }

    /// Whether it is the one that acts, as far as it knows.
    public var isActing: Bool { progress.isActing }

    /// Runs until it was asked to drain. Trouble with the database never ends it.
    public func run() async {
        let work = Task {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.keepBeating() }
                group.addTask { await self.keepWorking() }
                group.addTask { await self.keepReading() }
                group.addTask { await self.keepLoading() }
            }
        }
        task.withLock { $0 = work }
        if isDraining.withLock({ $0 }) { work.cancel() }
        await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        setup.logger.notice("Feedback worker ended")
    }

    /// Asks it to end in order: a piece of work under way is taken back, as another worker does it anew, but for the reading of a
    /// feedback service, which comes to its end.
    public func drain() {
        isDraining.withLock { $0 = true }
        task.withLock { $0 }?.cancel()
    }

    /// Opens a connection, however long the database takes to be there; nil when cancelled.
    func open(_ role: String) async -> Store? {
        var pause = makeBackOff()
        while !Task.isCancelled {
            do {
                return try await setup.connect(role)
            } catch {
                let time = pause.next()
                setup.logger.warning("The database cannot be used, next attempt in \(time): \(error)")
                try? await Task.sleep(for: time)
            }
        }
        return nil
    }

    /// The longest pause after an error is that of the supervisor.
    var longestPause: Duration { .seconds(setup.settings.mta.master.dataBaseRetryDelaySec) }

    func makeBackOff() -> BackOff {
        BackOff(initial: .milliseconds(100), maximum: longestPause, floor: .milliseconds(50))
    }
}
