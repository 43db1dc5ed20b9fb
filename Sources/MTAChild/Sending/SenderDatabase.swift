import Gateways
import Logging
import PostgresClient
import ProcessEvents
import ProcessProtocol
import PushCore
import Store
import Synchronization

/// What the database is told of a sender's messages: marks, outcomes, parts that go back, circuit and trouble.
final class SenderDatabase: Sendable {
    let circuit: CircuitReport
    let troubleReport: TroubleReport
    let holder: DeliveryHolder
    let marks: MarkLane
    /// Why it does not take outcomes; empty if it does.
    let trouble = Mutex("")
    private let store: Store
    private let lockedEnds: LockedEnds
    private let journal: ChildJournal
    private let measures: ChildMeasures
    private let clock: DatabaseClock
    private let logger: Logger
    private let released = Atomic<UInt64>(0)
    private let isStopped = Mutex(false)

    init(
        store: Store,
        messageMarks: Store,
        circuit: CircuitReport,
        troubleReport: TroubleReport,
        journal: ChildJournal,
        measures: ChildMeasures,
        clock: DatabaseClock,
        logger: Logger
    ) {
        self.store = store
        self.circuit = circuit
        self.troubleReport = troubleReport
        self.journal = journal
        self.measures = measures
        self.clock = clock
        self.logger = logger
        holder = DeliveryHolder(store: store, logger: logger)
        lockedEnds = LockedEnds(store: store)
        marks = MarkLane(usual: store, ofMessages: messageMarks, logger: logger)
    }

    /// Ends ``markLoop(_:)``, and ``storeLoop(_:)`` when nothing is left.
    func stop() {
        isStopped.withLock { $0 = true }
        marks.asked.continuation.finish()
    }

    /// Returns when it knows what this child has found of circuit, gateway and deliveries.
    func reported() async {
        await circuit.resolved()
        await troubleReport.finished()
        await holder.resolved()
    }

    /// Keeps what the gateway said of messages that it refuses for good.
    func noteRefusal(_ text: RefusalText) {
        Task {
            do {
                try await store.noteRefusal(
                    DeliveryRefusal(reason: text.reason, words: text.words),
                    delivery: text.deliveryID
                )
            } catch {
                logger.failure("the words of a refusal could not be stored", of: error)
            }
        }
    }

    /// No gateway has asked for more than an hour, and who gets the part next asks again.
    private static let longestWait: Int64 = 3_600_000

    /// Gives a part back, until the database has it or the child leaves.
    ///
    /// - Parameters:
    ///   - problem: why its messages cannot be read or sent now, if so: then it waits.
    ///   - alone: whether its push tokens were refused, so that it is judged by itself next time.
    func release(
        _ part: PartToken,
        _ recovery: PartRecovery,
        problem: String? = nil,
        alone: Bool = false,
        for sender: Sender
    ) {
        Task {
            // Nobody should claim it, and fail as this child did, before the circuit is known to be open, or the delivery held back.
            while circuit.isOpening || troubleReport.isUnderWay || holder.holdsParts {
                await circuit.resolved()
                await troubleReport.finished()
                await holder.resolved()
                await Task.yield()
            }
            var backOff = BackOff(initial: .milliseconds(100), maximum: .seconds(5))
            while true {
                do {
                    let notBefore = recovery.notBeforeMilliseconds
                    _ = try await store.releasePart(
                        part,
                        recovery: recovery,
                        problem: problem,
                        // Of the clock of now: one that was set meanwhile must not keep the part back for longer.
                        wait: notBefore == 0 ? 0 : min(notBefore - clock.nowMilliseconds, Self.longestWait),
                        alone: alone
                    )
                    if alone, let problem { try await holdIfRefused(part, problem) }
                    break
                } catch {
                    logger.failure("part \(part.part) could not be given back", of: error)
                    // The lease runs out by itself then; the next owner learns the rest from mark, outcomes and journal.
                    guard !isStopped.withLock({ $0 }) else { return }
                    try? await Task.sleep(for: backOff.next())
                }
            }
            released.add(1, ordering: .relaxed)
            sender.perform(.released(part))
            sender.signals.idle.fire()
        }
    }

    /// Holds the delivery of a part back if nothing of it gets through, as every message of it would be refused.
    private func holdIfRefused(_ part: PartToken, _ problem: String) async throws {
        guard let delivery = try await store.refusedDelivery(ofPart: part.part) else { return }
        holder.hold(
            delivery,
            reason:
                "Next to nothing of the delivery gets through: \(problem). Check the environment and the key of the application and "
                + "where the push tokens come from. Stop the delivery, or resume it to try again."
        )
    }

    /// Parts that the database has back.
    var releasedParts: UInt64 { released.load(ordering: .relaxed) }

    /// Says that the gateway finds a rate too high. It is said once: who meets the gateway's refusal again says it again.
    func cutRate(_ limit: Int64, _ reason: String) {
        logger.event(
            .quotaReached,
            "the gateway says that the project sends too fast (\(reason)): its rate is halved, and grows again"
        )
        Task {
            do {
                try await store.cutRate(limit, reason: reason)
            } catch {
                logger.failure("the rate of the project could not be halved", of: error)
            }
        }
    }

    /// Commits marks, one call after the other, until ``stop()``.
    func markLoop(_ sender: Sender) async {
        var backOff = BackOff(initial: .milliseconds(200), maximum: .seconds(5))
        for await asked in marks.asked.stream {
            do {
                let held = try await measures.time(\.mark) { try await marks.commit(asked, journal.writtenLength) }
                CrashPoint.afterMark.reached()
                sender.perform(.marked(asked, held: held))
                backOff.reset()
            } catch {
                logger.failure("the dispatch marks of \(asked.count) parts could not be committed", of: error)
                try? await Task.sleep(for: backOff.next())
                sender.perform(.markFailed)
            }
        }
    }

    /// Stores outcomes, one transaction after the other, until ``stop()`` and nothing is left, or the task is cancelled.
    func storeLoop(_ sender: Sender) async {
        while !Task.isCancelled {
            await sender.signals.store.wait()
            // What comes while a batch is stored gathers as it would have without: where latencies differ, outcomes are of many parts, and each
            // batch updates each of its parts.
            repeat {
                guard let (batch, windowRows) = sender.takeOutcomes() else { break }
                guard let report = await storeUntilDone(batch, sender) else { return }
                sender.perform(.stored(report, claims: batch.claims, windowRows: windowRows))
            } while sender.storesAtOnce || isStopped.withLock { $0 }
            if isStopped.withLock({ $0 }) { return }
        }
    }

    /// Repeats a batch until the database has it: outcomes are facts, and the journal keeps them meanwhile.
    /// - Returns: nil if the task was cancelled.
    private func storeUntilDone(_ batch: OutcomeBatch, _ sender: Sender) async -> StoreReport? {
        var backOff = BackOff(initial: .milliseconds(100), maximum: .seconds(10))
        var batch = batch
        batch.journalLength = journal.writtenLength
        var locked: [ClosingPart] = []
        var looks = lockedEnds.areThere
        if !batch.closing.isEmpty { CrashPoint.beforePartEnd.reached() }
        while !Task.isCancelled {
            do {
                if looks { locked += try await lockedEnds.takeOut(of: &batch) }
                // Before the transaction nothing of it is committed.
                CrashPoint.beforeCommit.reached()
                let report = try await measures.time(\.store) { [batch] in try await store.storeOutcomes(batch) }
                CrashPoint.afterCommit.reached()
                trouble.withLock { $0 = "" }
                if lockedEnds.add(locked) { Task { await endLocked(sender) } }
                return report
            } catch let error as PostgresError where error.isLockTimeout && !looks && !batch.closing.isEmpty {
                looks = true
            } catch {
                trouble.withLock { $0 = "outcomes cannot be stored: \(error)" }
                logger.failure("\(batch.count) outcomes could not be stored, trying again", of: error)
                try? await Task.sleep(for: backOff.next())
            }
        }
        return nil
    }

    /// Ends parts whose delivery was locked, as soon as it is free.
    private func endLocked(_ sender: Sender) async {
        while !isStopped.withLock({ $0 }) {
            try? await Task.sleep(for: LockedEnds.pause)
            do {
                guard let (report, claims) = try await lockedEnds.next() else { return }
                sender.perform(.ended(report, claims: claims))
            } catch {
                logger.failure("the ends of parts could not be stored, trying again", of: error)
            }
        }
    }
}
