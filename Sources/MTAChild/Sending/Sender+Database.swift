import Logging
import PostgresClient
import ProcessEvents
import ProcessProtocol
import PushCore
import Store
import Synchronization

/// What is committed for messages: marks before they leave, and their outcomes.
extension Sender {
    /// Commits marks, one call after the other, until ``stop()``.
    func markLoop() async {
        var backOff = BackOff(initial: .milliseconds(200), maximum: .seconds(5))
        for await asked in database.marks.asked.stream {
            do {
                let held = try await measures.time(\.mark) { try await database.marks.commit(asked, journalLength) }
                CrashPoint.afterMark.reached()
                perform(.marked(asked, held: held))
                backOff.reset()
            } catch {
                logger.failure("the dispatch marks of \(asked.count) parts could not be committed", of: error)
                try? await Task.sleep(for: backOff.next())
                perform(.markFailed)
            }
        }
    }

    /// Stores outcomes, one transaction at a time, until ``stop()`` and nothing is left, or the task is cancelled.
    func storeLoop() async {
        while !Task.isCancelled {
            await signals.store.wait()
            // Outcomes that come while a batch is stored gather for the usual delay. Where latencies differ, outcomes
            // belong to many parts, and each batch updates each of its parts.
            repeat {
                guard let (batch, windowRows) = takeOutcomes() else { break }
                guard let report = await storeUntilDone(batch) else { return }
                perform(.stored(report, claims: batch.claims, windowRows: windowRows))
            } while storesAtOnce || database.isStopped
            if database.isStopped { return }
        }
    }

    /// Retries a batch until the database has it: outcomes are facts, and the journal keeps them meanwhile.
    /// - Returns: nil if the task was cancelled.
    private func storeUntilDone(_ batch: OutcomeBatch) async -> StoreReport? {
        let lockedEnds = database.lockedEnds
        var backOff = BackOff(initial: .milliseconds(100), maximum: .seconds(10))
        var batch = batch
        batch.journalLength = journalLength
        var locked: [ClosingPart] = []
        var looks = lockedEnds.areThere
        if !batch.closing.isEmpty { CrashPoint.beforePartEnd.reached() }
        while !Task.isCancelled {
            do {
                if looks { locked += try await lockedEnds.takeOut(of: &batch) }
                // Nothing is committed before the transaction.
                CrashPoint.beforeCommit.reached()
                let report = try await measures.time(\.store) { [batch] in
                    try await database.store.storeOutcomes(batch)
                }
                CrashPoint.afterCommit.reached()
                database.trouble.withLock { $0 = "" }
                if lockedEnds.add(locked) { Task { await endLocked() } }
                return report
            } catch let error as PostgresError where error.isLockTimeout && !looks && !batch.closing.isEmpty {
                looks = true
            } catch {
                database.trouble.withLock { $0 = "outcomes cannot be stored: \(error)" }
                logger.failure("\(batch.count) outcomes could not be stored, trying again", of: error)
                try? await Task.sleep(for: backOff.next())
            }
        }
        return nil
    }

    /// Ends parts whose delivery was locked, as soon as the lock is gone.
    private func endLocked() async {
        while !database.isStopped {
            try? await Task.sleep(for: LockedEnds.pause)
            do {
                guard let (report, claims) = try await database.lockedEnds.next() else { return }
                perform(.ended(report, claims: claims))
            } catch {
                logger.failure("the ends of parts could not be stored, trying again", of: error)
            }
        }
    }
}
