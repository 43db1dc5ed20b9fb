import Gateways
import Logging
import ProcessEvents
import ProcessProtocol
import PushCore
import Store
import Synchronization

/// What a sender does with the database besides marks and outcomes: it gives parts back, and reports circuit and
/// trouble.
final class SenderDatabase: Sendable {
    let circuit: CircuitReport
    let troubleReport: TroubleReport
    let holder: DeliveryHolder
    let marks: MarkLane
    /// Why the database does not accept outcomes; empty if it does.
    let trouble = Mutex("")
    let store: Store
    let lockedEnds: LockedEnds
    private let clock: DatabaseClock
    private let logger: Logger
    private let released = Atomic<UInt64>(0)
    private let stopped = Mutex(false)

    init(
        store: Store,
        messageMarks: Store,
        circuit: CircuitReport,
        troubleReport: TroubleReport,
        clock: DatabaseClock,
        logger: Logger
    ) {
        self.store = store
        self.circuit = circuit
        self.troubleReport = troubleReport
        self.clock = clock
        self.logger = logger
        holder = DeliveryHolder(store: store, logger: logger)
        lockedEnds = LockedEnds(store: store)
        marks = MarkLane(usual: store, ofMessages: messageMarks, logger: logger)
    }

    /// Whether the child ends: it commits no more marks, and stores outcomes until none is left.
    var isStopped: Bool { stopped.withLock { $0 } }

    /// Ends the loop of marks, and that of outcomes when none is left.
    func stop() {
        stopped.withLock { $0 = true }
        marks.asked.continuation.finish()
    }

    /// Returns when the database knows what this child has found about circuit, gateway and deliveries.
    func reported() async {
        await circuit.resolved()
        await troubleReport.finished()
        await holder.resolved()
    }

    /// Stores the gateway's text about messages that it refuses permanently.
    func noteRefusal(_ text: RefusalText) {
        Task {
            do {
                try await store.noteRefusal(
                    DeliveryRefusal(reason: text.reason, words: text.words),
                    delivery: text.deliveryID
                )
            } catch {
                logger.failure("the gateway's text about a refusal could not be stored", of: error)
            }
        }
    }

    /// No gateway has asked for more than an hour, and the part's next owner asks again.
    private static let maxWait: Int64 = 3_600_000

    /// Gives a part back, retrying until the database has it or the child ends.
    ///
    /// - Parameters:
    ///   - problem: why its messages cannot be read or sent now, so that the part waits; nil if they can.
    ///   - alone: whether its push tokens were refused, so that the part is sent alone next time.
    func release(
        _ part: PartToken,
        _ recovery: PartRecovery,
        problem: String? = nil,
        alone: Bool = false,
        for sender: Sender
    ) {
        Task {
            // No other child should claim the part, and fail as this one did, before the circuit is known to be open or
            // the delivery is held.
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
                        // Relative to the clock's present time: a clock that was set back must not prolong the wait.
                        wait: notBefore == 0 ? 0 : min(notBefore - clock.nowMilliseconds, Self.maxWait),
                        alone: alone
                    )
                    if alone, let problem { try await holdIfRefused(part, problem) }
                    break
                } catch {
                    logger.failure("part \(part.part) could not be given back", of: error)
                    // The lease then expires; the next owner learns the rest from mark, outcomes and journal.
                    guard !isStopped else { return }
                    try? await Task.sleep(for: backOff.next())
                }
            }
            released.add(1, ordering: .relaxed)
            sender.perform(.released(part))
            sender.signals.idle.fire()
        }
    }

    /// Holds a part's delivery if nothing of it gets through, because each of its messages would be refused.
    private func holdIfRefused(_ part: PartToken, _ problem: String) async throws {
        guard let delivery = try await store.refusedDelivery(ofPart: part.part) else { return }
        holder.hold(
            delivery,
            reason:
                "Almost none of the delivery's messages get through: \(problem). "
                + "Check the environment and the key of the application, and where the push tokens come from. "
                + "Stop the delivery, or resume it to try again."
        )
    }

    /// The number of parts that the database has back.
    var releasedParts: UInt64 { released.load(ordering: .relaxed) }

    /// Reports that the gateway finds a rate too high. A failed report is not retried: a child that meets the refusal
    /// again reports it again.
    func cutRate(_ limit: Int64, _ reason: String) {
        logger.event(
            .quotaReached,
            "the gateway reports that the project sends too fast (\(reason)): its rate is halved, then grows again"
        )
        Task {
            do {
                try await store.cutRate(limit, reason: reason)
            } catch {
                logger.failure("the rate of the project could not be halved", of: error)
            }
        }
    }
}
