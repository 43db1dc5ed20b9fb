import Logging
import ProcessProtocol
import PushCore
import Store
import Synchronization

/// What the database is told: marks, outcomes, parts that go back.
extension Sender {
    /// Gives a part back, until the database has it or the child leaves.
    ///
    /// - Parameters:
    ///   - problem: why its messages cannot be read or sent now, if so: then it waits.
    ///   - alone: whether its push tokens were refused, so that it is judged by itself next time.
    func release(_ part: PartToken, _ recovery: PartRecovery, problem: String? = nil, alone: Bool = false) {
        Task {
            // Nobody should claim it, and fail as this child did, before the circuit is known to be open, or the delivery held back.
            while circuit.isOpening || troubleReport.isUnderWay || holder.isHolding {
                await circuit.settled()
                await troubleReport.finished()
                await holder.settled()
                await Task.yield()
            }
            var backOff = BackOff(initial: .milliseconds(100), maximum: .seconds(5))
            while true {
                do {
                    _ = try await store.releasePart(part, recovery: recovery, problem: problem, alone: alone)
                    if alone, let problem { try await holdIfRefused(part, problem) }
                    break
                } catch {
                    logger.warning("part \(part.part) could not be given back: \(error)")
                    // The lease runs out by itself then; the next owner learns the rest from mark, outcomes and journal.
                    guard !isStopped.withLock({ $0 }) else { return }
                    try? await Task.sleep(for: backOff.next())
                }
            }
            released.add(1, ordering: .relaxed)
            perform(.released(part))
            idleSignal.fire()
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

    /// Grows with everything that the database has taken.
    var storedSoFar: UInt64 {
        UInt64(desk.withLock { $0.storedBatch }) + released.load(ordering: .relaxed)
    }

    /// Commits marks, one call after the other, until ``stop()``.
    func markLoop() async {
        var backOff = BackOff(initial: .milliseconds(200), maximum: .seconds(5))
        for await marks in marks {
            do {
                let held = try await store.mark(marks)
                CrashPoint.afterMark.reached()
                perform(.marked(marks, held: held))
                backOff.reset()
            } catch {
                logger.warning("the dispatch marks of \(marks.count) parts could not be committed: \(error)")
                try? await Task.sleep(for: backOff.next())
                perform(.markFailed)
            }
        }
    }

    /// Stores outcomes, one transaction after the other, until ``stop()`` and nothing is left, or the task is cancelled.
    func storeLoop() async {
        while !Task.isCancelled {
            await storeSignal.wait()
            while let (batch, windowRows) = desk.withLock({ $0.takeOutcomes() }) {
                guard let report = await storeUntilDone(batch) else { return }
                perform(.stored(report, holdings: batch.holdings, windowRows: windowRows))
            }
            if isStopped.withLock({ $0 }) { return }
        }
    }

    /// Repeats a batch until the database has it: outcomes are facts, and the journal keeps them meanwhile.
    /// - Returns: nil if the task was cancelled.
    private func storeUntilDone(_ batch: OutcomeBatch) async -> StoreReport? {
        var backOff = BackOff(initial: .milliseconds(100), maximum: .seconds(10))
        if !batch.closing.isEmpty { CrashPoint.beforePartEnd.reached() }
        while !Task.isCancelled {
            do {
                // The whole transaction travels in one message: just before it nothing is committed.
                CrashPoint.beforeCommit.reached()
                let report = try await store.storeOutcomes(batch)
                CrashPoint.afterCommit.reached()
                databaseTrouble.withLock { $0 = "" }
                return report
            } catch {
                databaseTrouble.withLock { $0 = "outcomes cannot be stored: \(error)" }
                logger.warning("\(batch.count) outcomes could not be stored, trying again: \(error)")
                try? await Task.sleep(for: backOff.next())
            }
        }
        return nil
    }
}
