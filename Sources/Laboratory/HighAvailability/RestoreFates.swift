import LaboratoryStore
import PushCore
import Store
import Synchronization

/// What was known about each message when the database was lost, and what became of it after the restore.
struct RestoreFates {
    private let site: DrillSite
    /// Resolves message ids while the database is lost.
    private var resolver: MessageResolver?
    /// How often each message was accepted before the database was lost, by delivery.
    private var acceptedBefore: [Int64: [Int32: Int]] = [:]
    /// The messages that the hosts' journals record as accepted, with the fencing token of the claim.
    private var inJournals: [JournalIntents.Message: Int64] = [:]
    /// The messages that were on the wire according to the hosts' journals.
    private var onWire: Set<JournalIntents.Message> = []
    /// Messages with an outcome in the restored database.
    private var known: [Int64: Set<Int32>] = [:]
    /// Messages with an answer in a journal, under a claim that the restored database knows.
    private var replayed: [Int64: Set<Int32>] = [:]
    /// Messages that appear in any journal.
    private var journaled: [Int64: Set<Int32>] = [:]

    init(_ site: DrillSite) {
        self.site = site
    }

    /// Waits until at least this many messages of each of these deliveries are accepted.
    func untilAccepted(_ deliveries: [DrillDelivery], _ least: Int) async throws {
        try await site.until("\(least) messages of each delivery", within: .seconds(120), every: .milliseconds(250)) {
            let accepted = try await accepted()
            return deliveries.allSatisfy { accepted[$0.id]?.count ?? 0 >= least }
        }
    }

    /// Reads the keys of all deliveries so far.
    mutating func rememberKeys() async throws {
        resolver = try await MessageResolver(site.deliveries, store: site.store())
    }

    /// Reads the gateways' record and the journals after database and hosts are gone.
    mutating func takeStock(_ hosts: [DrillHost], _ forgotten: DrillDelivery) async throws {
        acceptedBefore = try await accepted()
        for host in hosts {
            inJournals.merge(try JournalIntents.accepted(of: host)) { max($0, $1) }
            onWire.formUnion(try JournalIntents.unanswered(of: host))
        }
        site.note("the journals have \(inJournals.count) answers and \(onWire.count) messages that were on the wire")
        // The restored database does not know this delivery; its key is shared with other deliveries of the day.
        site.state.withLock { state in
            state.deliveries.removeAll { $0 == forgotten }
            state.exceptions.forgotten = (resolver?.codecs ?? []).filter { $0.deliveryID == forgotten.id }
        }
    }

    /// Reads the restored database before any host is started.
    mutating func compare(with deliveries: [DrillDelivery]) async throws {
        let store = try site.store()
        for delivery in deliveries {
            known[delivery.id] = Set(
                try await store.outcomeRows(delivery: delivery.id).filter { $0.status != .pending }.map(\.sequence)
            )
            let tokens = try await store.claimTokens(ofDelivery: delivery.id)
            let answers = inJournals.filter { tokens[$0.key.part] != nil }
            replayed[delivery.id] = Set(
                answers.filter { $0.value <= tokens[$0.key.part] ?? 0 }.map(\.key.sequence)
            )
            journaled[delivery.id] = Set(answers.map(\.key.sequence))
                .union(onWire.filter { tokens[$0.part] != nil }.map(\.sequence))
        }
    }

    /// Checks that each message ended as the guide says.
    func judge(sent: [DrillDelivery], stopped: DrillDelivery) async throws {
        let after = try await accepted()
        for delivery in sent { try await judge(delivery, after[delivery.id] ?? [:], isStopped: false) }
        try await judge(stopped, after[stopped.id] ?? [:], isStopped: true)
    }

    private func judge(_ delivery: DrillDelivery, _ after: [Int32: Int], isStopped: Bool) async throws {
        let before = acceptedBefore[delivery.id] ?? [:]
        let known = known[delivery.id] ?? []
        let replayed = (replayed[delivery.id] ?? []).subtracting(known)
        let journaled = journaled[delivery.id] ?? []
        var count = RestoreCount()
        var again: Set<Int32> = []
        var canceled: Set<Int32> = []
        for outcome in try await site.store().outcomeRows(delivery: delivery.id) {
            let (old, new) = (before[outcome.sequence] ?? 0, after[outcome.sequence] ?? 0)
            let name = "message \(outcome.sequence) of delivery \(delivery.id)"
            if known.contains(outcome.sequence) || replayed.contains(outcome.sequence) {
                if known.contains(outcome.sequence) { count.known += 1 } else { count.replayed += 1 }
                site.expect(new == old, "\(name) was known, but sent again")
                site.expect(outcome.status == .sent, "\(name) was known, but is recorded as \(outcome.status.name)")
            } else if isStopped {
                site.expect(new == old, "\(name) was sent after its delivery was stopped")
                if old > 0, outcome.status == .canceled { canceled.insert(outcome.sequence) }
            } else if old > 0, new > old {
                again.insert(outcome.sequence)
            } else if old > 0 {
                count.keptOtherwise += 1
                site.expect(journaled.contains(outcome.sequence), "\(name) was not sent again, but no journal has it")
            }
        }
        count.again = again.count
        count.canceled = canceled.count
        site.note("delivery \(delivery.id): \(count)")
        site.state.withLock {
            $0.exceptions.sentAgain[delivery.id] = again
            $0.exceptions.acceptedAndCanceled[delivery.id] = canceled
        }
    }

    private func accepted() async throws -> [Int64: [Int32: Int]] {
        var found: [Int64: [Int32: Int]] = [:]
        let resolver: MessageResolver
        if let known = self.resolver {
            resolver = known
        } else {
            resolver = try await MessageResolver(site.deliveries, store: site.store())
        }
        try GatewayRecord.read(site.recordFile) { line in
            guard line.isAccepted, let message = resolver.message(line.id) else { return }
            found[message.delivery, default: [:]][message.sequence, default: 0] += 1
        }
        return found
    }
}

/// The number of a delivery's messages by what became of them.
struct RestoreCount: CustomStringConvertible {
    /// The outcome was in the restored database.
    var known = 0
    /// The outcome came from a journal.
    var replayed = 0
    /// A journal has them under a claim that the restored database does not know, and they were not sent again.
    var keptOtherwise = 0
    /// Accepted before, and sent again.
    var again = 0
    /// Accepted before, and recorded as canceled.
    var canceled = 0

    var description: String {
        "\(known) were recorded at the moment, \(replayed) were replayed, \(keptOtherwise) are only in a journal, "
            + "\(again) were sent again, \(canceled) are canceled although accepted"
    }
}
