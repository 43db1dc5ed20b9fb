// FeedbackWorker: background work: token events, statistics, retention, feedback services, spools.
//
// WHAT IT DOES
//   Applies what gateways reported about push tokens, counts outcomes and hits, and reads the feedback services of
//   binary gateways. Loads hits that web processes of its host left on disk. Posts events to webhooks. Records alarms
//   as supervisors do, and deletes data that is older than the settings allow.
//
// HOW IT IS USED
//   `pushmta feedback` creates one from a FeedbackSetup and awaits run(); SIGTERM and SIGINT call drain(). Any number
//   may run: one acts, and the others stand by. The database decides which one acts with each heartbeat, and fences
//   each piece of work by that decision.
//
// THREADS AND TASKS
//   One task serves metrics. Five tasks have connections of their own. keepHeartbeat runs every 3 s. keepWorking runs
//   bounded pieces of the duties that FeedbackPlan chooses; a backlog of token events uses a second connection while
//   nothing is sent. keepReading reads up to eight feedback services in parallel on shared event loops. keepLoading
//   loads spools, also while the worker stands by, because no other worker reaches this host's files. keepPosting has a
//   task for each webhook, whose decisions are a WebhookPlan.
//
// STATE AND FILES
//   Its row in feedback_worker and the data that the duties change. It reads the spools in web.workingPath and removes
//   loaded ones. After a kill, another worker acts when this one has been silent for 15 s; an unfinished piece is
//   rolled back and done again. Tokens read from a feedback service and not stored are lost with the process, until the
//   service reports them again.
//
// FAILURES
//   Database down: it retries with pauses up to mta.master.dataBaseRetryDelaySec, and never ends because of it. A
//   failed duty is retried after a growing pause while the others continue. An unreachable feedback service is read
//   again after at most 300 s. When asked to end, it waits at most 30 s for a reading in progress. While messages are
//   sent, it works only part of the time. If no worker acts, supervisors apply token events; the other duties wait.
//
// SETTINGS
//   feedback.*, metrics.address, metrics.feedbackPort, mta.quarantine.*, nmac.*, web.workingPath,
//   mta.master.dataBaseRetryDelaySec, credentialKeyFile.
//
// SEE ALSO
//   FeedbackPlan.swift, FeedbackRounds.swift, FeedbackServiceRound.swift, SpoolDatabase.swift, WebhookPoster.swift,
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

/// The process for background work. It reads feedback services for dead tokens, applies what gateways reported about
/// tokens, and counts outcomes and hits. It loads hits that web processes left on disk, and deletes old data.
///
/// Any number may run: one acts, and the others stand by. The database decides which one, and fences each piece of work
/// by that decision. The worker handles no signals: the command line calls ``drain()``.
package final class FeedbackWorker: Sendable {
    let setup: FeedbackSetup
    /// Its id in `feedback_worker`.
    package let id: String
    let progress = FeedbackProgress()
    private let task = Mutex<Task<Void, Never>?>(nil)
    private let isDraining = Mutex(false)

    /// Creates a worker without starting it.
    package init(_ setup: FeedbackSetup) {
        self.setup = setup
        id = UUID().uuidString.lowercased()
    }

    /// Whether it is the active worker, as far as it knows.
    package var isActing: Bool { progress.isActing }

    /// Runs until a drain is requested. A database failure never ends it.
    package func run() async {
        let work = Task {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.keepHeartbeat() }
                group.addTask { await self.keepWorking() }
                group.addTask { await self.keepReading() }
                group.addTask { await self.keepLoading() }
                group.addTask { await self.keepPosting() }
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

    /// Requests an orderly end. A piece of work in progress is rolled back, and another worker does it again. Only the
    /// reading of a feedback service is completed.
    package func drain() {
        isDraining.withLock { $0 = true }
        task.withLock { $0 }?.cancel()
    }

    /// Opens a connection and waits for the database without a limit; nil when cancelled.
    func open(_ role: String) async -> Store? {
        var pause = makeBackOff()
        while !Task.isCancelled {
            do {
                return try await setup.connect(role)
            } catch {
                let time = pause.next()
                // The connection already logs the outage once (database_away).
                setup.logger.debug("The database cannot be used, next attempt in \(time.pauseText): \(error)")
                try? await Task.sleep(for: time)
            }
        }
        return nil
    }

    /// The longest pause after an error, the same as the supervisor's.
    var maxPause: Duration { .seconds(setup.settings.mta.master.dataBaseRetryDelaySec) }

    func makeBackOff() -> BackOff { .database(longest: maxPause) }
}

extension FeedbackWorker {
    /// Four heartbeats fit into a lease of 15 s, so one or two may be lost.
    private static let heartbeatInterval = Duration.seconds(3)
    /// How long to wait for the database to record the end of the worker.
    private static let stopRecordTimeout = Duration.seconds(2)

    /// Maintains this worker's row, and with it the right to act, until cancelled.
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

    /// Reports the figures of spools after a successful heartbeat; after a failure, the next heartbeat reports them.
    private func tellSpools(_ heartbeat: FeedbackHeartbeat, _ store: Store) async {
        do {
            try await store.noteFeedbackSpools(heartbeat)
        } catch {
            progress.restore(spoolsOf: heartbeat)
            guard !Task.isCancelled else { return }
            setup.logger.failure("The feedback worker could not report its figures of tracking spools", of: error)
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

    /// Records the end of this worker. Closing the connection limits the wait: cancellation does not end a statement
    /// that waits for an unreachable server.
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
