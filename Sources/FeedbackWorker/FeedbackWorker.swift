// FeedbackWorker: does what nobody waits for: token events, statistics, retention, feedback services, spools.
//
// WHAT IT DOES
//   Applies what gateways said about push tokens, counts outcomes and hits, reads the feedback services of binary gateways,
//   loads hits that web processes of its host left on disk, notes alarms beside the supervisors, and deletes what is older
//   than the settings allow.
//
// HOW IT IS USED
//   `pushmta feedback` makes one of a FeedbackSetup and awaits run(); SIGTERM and SIGINT call drain(). Any number may run:
//   one acts, the others stand by. Which one, the database decides with each heartbeat, and each piece of work is fenced by
//   that decision.
//
// THREADS AND TASKS
//   One task serves metrics. Four tasks have connections of their own: keepHeartbeat (every 3 s), keepWorking (FeedbackPlan says
//   which duty comes next, in bounded pieces; a backlog of token events takes a second connection while nobody sends), keepReading
//   (feedback services, eight at once, on shared event loops) and keepLoading (spools, also while it stands by, as nobody else
//   reaches this host's files).
//
// STATE AND FILES
//   Its row in feedback_worker and what the duties change in the database. It reads the spools in web.workingPath and removes
//   those that are loaded. After a kill another worker acts when nothing was heard for 15 s; a piece under way is rolled back
//   and done anew. Tokens of a feedback service that were read and not stored are lost with the process, until the service
//   names them again.
//
// FAILURES
//   Database away: it waits, with pauses up to mta.master.dataBaseRetryDelaySec, and never ends for it. A duty that fails is
//   tried again by itself, after a growing pause, while the others go on. A feedback service out of reach is asked again
//   after 300 s at most. Asked to end, it brings a reading under way to its end, but waits 30 s at most. While messages are
//   sent it works a part of the time only. If no worker acts, supervisors apply token events; the other duties wait.
//
// SETTINGS
//   feedback.*, metrics.address, metrics.feedbackPort, mta.quarantine.*, nmac.*, web.workingPath,
//   mta.master.dataBaseRetryDelaySec, credentialKeyFile.
//
// SEE ALSO
//   FeedbackPlan.swift, FeedbackRounds.swift, FeedbackServiceRound.swift, SpoolDatabase.swift,
//   Sources/Store/Feedback/FeedbackWorkers.swift, Deploy/guide/data.md

import Logging
import ProcessEvents
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
                group.addTask { await self.keepHeartbeat() }
                group.addTask { await self.keepWorking() }
                group.addTask { await self.keepReading() }
                group.addTask { await self.keepLoading() }
                group.addTask { await self.serveMetrics() }
            }
        }
        task.withLock { $0 = work }
        if isDraining.withLock({ $0 }) { work.cancel() }
        await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        setup.logger.event(.processEnded, "Feedback worker ended")
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
                // Who connects tells it, once (database_away).
                setup.logger.debug("The database cannot be used, next attempt in \(time.pauseText): \(error)")
                try? await Task.sleep(for: time)
            }
        }
        return nil
    }

    /// The longest pause after an error is that of the supervisor.
    var longestPause: Duration { .seconds(setup.settings.mta.master.dataBaseRetryDelaySec) }

    func makeBackOff() -> BackOff { .database(longest: longestPause) }
}

extension FeedbackWorker {
    /// Four heartbeats fit into a lease of 15 s, so that one or two may be lost.
    private static let heartbeatInterval = Duration.seconds(3)
    /// How long the database may take to hear that the worker has ended.
    private static let stopRecordTimeout = Duration.seconds(2)

    /// Keeps this worker's row, and with it the right to act, until cancelled.
    func keepHeartbeat() async {
        guard let store = await open("feedback-heartbeat") else { return }
        var pause = makeBackOff()
        while !Task.isCancelled {
            var heartbeat = FeedbackHeartbeat(worker: id, host: setup.hostName, pid: getpid(), version: setup.version)
            progress.move(into: &heartbeat)
            do {
                let isActing = try await store.feedbackHeartbeat(heartbeat, leaseSeconds: setup.leaseSeconds)
                pause.reset()
                progress.pulse.note(true)
                tell(isActing)
                await tellSpools(heartbeat, store)
                try? await Task.sleep(for: Self.heartbeatInterval)
            } catch {
                progress.restore(heartbeat)
                progress.pulse.note(false)
                if Task.isCancelled { break }
                let time = pause.next()
                let problem = "The feedback worker could not report, next attempt in \(time.pauseText)"
                setup.logger.failure(problem, of: error)
                try? await Task.sleep(for: time)
            }
        }
        await recordStop(store)
    }

    /// The heartbeat is out; what it was to say of spools is said with the next one if this fails.
    private func tellSpools(_ heartbeat: FeedbackHeartbeat, _ store: Store) async {
        do {
            try await store.noteFeedbackSpools(heartbeat)
        } catch {
            progress.restore(spoolsOf: heartbeat)
            guard !Task.isCancelled else { return }
            setup.logger.failure("The feedback worker could not report what it knows of tracking spools", of: error)
        }
    }

    private func tell(_ isActing: Bool) {
        guard progress.setActing(isActing) else { return }
        if isActing {
            setup.logger.event(.feedbackActs, "This feedback worker acts now")
        } else {
            setup.logger.event(.feedbackStandsBy, "Another feedback worker acts now; this one stands by")
        }
    }

    /// A statement that waits for a server out of reach ends with its connection, not with its cancellation.
    private func recordStop(_ store: Store) async {
        let id = id
        let stopRecord = Task { try? await store.feedbackStop(worker: id) }
        let alarm = Task {
            try await Task.sleep(for: Self.stopRecordTimeout)
            await store.close()
        }
        _ = await stopRecord.value
        alarm.cancel()
        await store.close()
    }
}

/// What a feedback worker is made from.
public struct FeedbackSetup: Sendable {
    /// Opens one connection to the database; the role ("feedback-heartbeat", "feedback", "feedback-second", "feedback-reader", "feedback-spools") goes into its application name.
    public typealias Connect = @Sendable (_ role: String) async throws -> Store

    /// The settings of all processes.
    public var settings: Settings
    /// How it connects; called again with growing pauses as long as it throws.
    public var connect: Connect
    public var hostName: String
    public var version: String
    public var logger: Logger
    /// The process's variables, for systemd's credentials and for a proxy.
    public var environment = ProcessInfo.processInfo.environment
    /// How long nothing may be heard of the worker that acts until another one does, in seconds.
    public var leaseSeconds = Store.feedbackLeaseSeconds

    public init(
        settings: Settings,
        connect: @escaping Connect,
        hostName: String,
        version: String,
        logger: Logger
    ) {
        self.settings = settings
        self.connect = connect
        self.hostName = hostName
        self.version = version
        self.logger = logger
    }
}
