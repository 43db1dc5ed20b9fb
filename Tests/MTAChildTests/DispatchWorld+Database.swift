import Gateways
import PushCore
import Testing

@testable import MTAChild
@testable import Store

/// The database around a dispatch state, and the sessions that change it.
extension DispatchWorld {
    // MARK: Claims and leases

    mutating func claim(isProbe: Bool = false) {
        let ready = parts.values.filter { !$0.isClaimed && !$0.isDone && state(of: $0) != .paused }.map(\.id).sorted()
        guard !ready.isEmpty else { return }
        let id = ready[Int.random(in: 0..<ready.count, using: &random)]
        guard var part = parts[id], let state = states[part.delivery.id] else { return }
        part.token += 1
        part.isClaimed = true
        parts[id] = part
        if dispatch.heldTokens.isEmpty { leaseEnd = max(leaseEnd, now + 1_000) }
        if isProbe { isProbing = true }
        perform(.leaseValid(now < leaseEnd))
        // A claim also brings the delivery's state. The dispatch state may know the delivery as paused from an earlier
        // answer, and give the part back. If it holds nothing else of the delivery by the time the part is loaded, it
        // sends.
        told[part.delivery.id] = state
        perform(.prepared(prepare(part, state, isProbe)))
    }

    private func state(of part: Part) -> DeliveryState { states[part.delivery.id] ?? .inProgress }

    private mutating func prepare(_ part: Part, _ state: DeliveryState, _ isProbe: Bool) -> PreparedPart {
        var loaded = LoadedPart()
        loaded.sequences = part.sequences
        loaded.decisions = part.sequences.map { $0 % 13 == 5 ? .disabled : .sendable }
        let recovery = PartRecovery(
            ambiguous: part.ambiguous.sorted(),
            softAnswers: part.soft.values.sorted { $0.sequence < $1.sequence }
        )
        var sorter = RowSorter(
            sendsLost: part.delivery.ambiguityPolicy == .resend,
            known: Set(part.rows.keys),
            recovery: recovery,
            now: now
        )
        var prepared = DispatchFixture.part(part.id, size: part.size, delivery: part.delivery)
        prepared.claimed = DispatchFixture.claimed(
            part.id,
            size: part.size,
            token: part.token,
            delivery: part.delivery.id,
            policy: part.delivery.ambiguityPolicy,
            state: state,
            isProbe: isProbe
        )
        prepared.slices = []
        var rows: [Int32] = []
        for row in 0..<part.size {
            switch sorter.sort(row: row, loaded) {
            case .known: prepared.open -= 1
            case .send: rows.append(Int32(row))
            case .decided(let status, let reason):
                prepared.decided.append(.init(row: Int32(row), status: status, reason: reason))
            case .soft(_, _, let kind):
                prepared.softAnswers.append(.init(row: Int32(row), notBeforeMilliseconds: now, kind: kind))
            }
        }
        prepared.lost = sorter.lost
        prepared.unanswered = part.delivery.ambiguityPolicy == .resend ? sorter.unanswered : []
        prepared.resent = sorter.resent
        let last = rows.last ?? 0
        // In some parts one mark covers all slices; in others each slice has its own.
        let isMarkedAtOnce = chance(2)
        while !rows.isEmpty {
            let slice = Array(rows.prefix(4))
            rows.removeFirst(slice.count)
            nextBatch += 1
            prepared.slices.append(
                .init(
                    rows: slice,
                    batch: DispatchFixture.batch(
                        nextBatch,
                        slice.count,
                        part.delivery.id == Self.ownTopic ? .voip : .alert
                    ),
                    markThrough: (isMarkedAtOnce ? last : slice[slice.count - 1]) + 1
                )
            )
        }
        return prepared
    }

    func isHeld(_ claim: PartToken) -> Bool {
        parts[claim.part].map { $0.isClaimed && $0.token == claim.token } ?? false
    }

    mutating func renew() {
        let held = dispatch.heldTokens
        guard !held.isEmpty else { return }
        let lost = held.filter { !isHeld($0) && dispatch.parts[$0]?.isClosing == false }
        if !lost.isEmpty { perform(.leasesLost(Set(lost))) }
        leaseEnd = now + 1_000
        perform(.leaseValid(true))
    }

    /// A sweep takes a part from this child because its lease has expired.
    mutating func takeOver() {
        let lapsed = parts.values.filter { $0.isClaimed && now > leaseEnd }.map(\.id).sorted()
        guard !lapsed.isEmpty else { return }
        let id = lapsed[Int.random(in: 0..<lapsed.count, using: &random)]
        guard var part = parts[id] else { return }
        part.isClaimed = false
        seen.insert("part taken over")
        part.ambiguous.formUnion(part.sequences.prefix(Int(part.mark)))
        part.mark = 0
        parts[id] = part
    }

    mutating func release(_ claim: PartToken, _ recovery: PartRecovery) {
        guard isHeld(claim), var part = parts[claim.part] else { return }
        let onWire = wire.contains { owners[$0.batch]?.claim == claim }
        if onWire { fail("part \(part.id) goes back with messages on the wire") }
        part.isClaimed = false
        part.mark = 0
        for answer in recovery.softAnswers { part.soft[answer.sequence] = answer }
        part.ambiguous.formUnion(recovery.ambiguous)
        parts[claim.part] = part
    }

    mutating func answerMark() {
        guard !marks.isEmpty else { return }
        let asked = marks.removeFirst()
        var held: Set<Int64> = []
        for mark in asked where isHeld(mark.claim) {
            held.insert(mark.claim.part)
            let before = parts[mark.claim.part]?.mark ?? 0
            parts[mark.claim.part]?.mark = max(before, mark.through)
        }
        // It may be committed nevertheless.
        perform(chance(4) ? .markFailed : .marked(asked, held: held))
    }

    // MARK: Outcomes

    mutating func store() {
        guard !stores.isEmpty else { return }
        let (batch, rows, _) = stores[0]
        let report = commit(batch)
        // The answer is lost: the same batch is stored again.
        if chance(4) {
            seen.insert("commit's answer lost")
            return
        }
        stores.removeFirst()
        perform(.stored(report, claims: batch.claims, windowRows: rows))
    }

    private mutating func commit(_ batch: OutcomeBatch) -> StoreReport {
        var report = StoreReport()
        for row in batch.allRows {
            guard var part = parts[row.claim.part] else { continue }
            let isFact = (row.status == .sent || row.status == .failed) && !row.isDecision
            guard isHeld(row.claim) || isFact else { continue }
            guard part.rows[row.sequence] == nil else { continue }
            if row.status == .ignored, mayBeTaken.contains(row.sequence) {
                fail("\(row.sequence) may have been taken and is ignored")
            }
            if !isHeld(row.claim) { seen.insert("late fact") }
            seen.insert(row.status.name)
            part.rows[row.sequence] = row.status
            part.retries.remove(row.sequence)
            parts[part.id] = part
            report.inserted += 1
        }
        for closing in batch.closing { close(closing, &report) }
        for claim in batch.claims where !isHeld(claim) {
            let isClosed = parts[claim.part].map { $0.isDone && $0.token == claim.token } ?? false
            if !isClosed { report.fencedParts.append(claim.part) }
        }
        return report
    }

    private mutating func close(_ closing: ClosingPart, _ report: inout StoreReport) {
        guard var part = parts[closing.claim.part], part.token == closing.claim.token else { return }
        if part.isDone { return report.closedParts.append(part.id) }
        guard isHeld(closing.claim) else { return }
        let retries = Set(closing.retries.flatMap(\.sequences)).filter { part.rows[$0] == nil }
        if closing.restStatus == nil, retries.count + part.rows.count != part.size {
            fail("part \(part.id) ends with \(retries.count) + \(part.rows.count) of \(part.size)")
            return report.unbalancedParts.append(part.id)
        }
        for sequence in part.sequences where closing.restStatus != nil && part.rows[sequence] == nil {
            // Under `report` an ambiguous answer of this owner becomes a row, and so does a message sent before without
            // a known result.
            if mayBeTaken.contains(sequence) { fail("\(sequence) may have been taken and is \(closing.restReason)") }
        }
        for sequence in retries where mayBeTaken.contains(sequence) && !closing.ambiguous.contains(sequence) {
            fail("\(sequence) may have been taken and is retried off the record")
        }
        if !retries.isEmpty { seen.insert("retry") }
        if closing.restStatus != nil { seen.insert(closing.restReason) }
        part.isDone = true
        part.isClaimed = false
        part.retries = retries
        part.rest = closing.restStatus
        part.ambiguous.formUnion(closing.ambiguous)
        parts[part.id] = part
        report.closedParts.append(part.id)
    }

    // MARK: Operators

    mutating func changeState() {
        let ids = states.keys.sorted()
        let id = ids[Int.random(in: 0..<ids.count, using: &random)]
        switch states[id] {
        case .inProgress: states[id] = chance(4) ? .stopped : .paused
        case .paused: states[id] = .inProgress
        default: break
        }
    }

    mutating func poll() {
        let held = dispatch.heldDeliveries
        let seen = states.filter { held.contains($0.key) }
        perform(.deliveryStates(seen))
        for (id, state) in seen { told[id] = state }
    }
}
