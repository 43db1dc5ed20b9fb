import PushCore
import Store

extension DispatchState.Halt {
    /// What a delivery's state means for its parts; nil if they are sent.
    init?(_ state: DeliveryState) {
        switch state {
        case .preparing, .inProgress: return nil
        case .paused, .editing, .analysing, .ready, .pending: self = .giveBack
        case .stopped, .recalled: self = .close(.canceled, reason: state.rawValue)
        // A delivery cannot finish with an open part; whatever the cause, this child does not continue.
        case .finished: self = .giveBack
        }
    }
}

/// Deliveries that are paused, stopped or expired, and how their parts end.
extension DispatchState {
    /// Why the part's messages no longer leave; nil if they may.
    func halt(of part: HeldPart) -> Halt? {
        let halt = pauses.halts[part.claimed.deliveryID]
        if part.times.isExpired, halt == nil || halt == .giveBack { return .close(.ignored, reason: "expired") }
        let goesBack = admission.givesBack || part.refusal != nil || part.isLeft || part.times.isClosed
        return halt ?? (goesBack ? .giveBack : nil)
    }

    mutating func take(_ states: [Int64: DeliveryState], _ actions: inout [Action]) {
        let held = heldDeliveries
        for (delivery, state) in states where held.contains(delivery) {
            if pauses.take(Halt(state), of: delivery) { actions.append(.cancelQueued) }
        }
    }

    mutating func haltExpired(_ now: Int64, _ actions: inout [Action]) {
        endings.forgetExpiry()
        expireParts(now, &actions)
        closeHours(now, &actions)
        for part in parts.values where !part.isFenced {
            guard let end = part.delivery.validUntilMilliseconds else { continue }
            if now <= end {
                endings.expires(at: end)
            } else if pauses.expire(part.claimed.deliveryID) {
                actions.append(.cancelQueued)
            }
        }
    }

    /// A single message has its own validity, independent of the rest of its delivery.
    private mutating func expireParts(_ now: Int64, _ actions: inout [Action]) {
        for part in parts.values
        where part.times.validUntil != nil && !part.isFenced && !part.times.isExpired && !part.isClosing {
            guard let end = part.times.validUntil else { continue }
            if now <= end {
                endings.expires(at: end)
            } else {
                parts[part.claim]?.times.isExpired = true
                endings.add(.expired)
                actions.append(.cancelQueued)
            }
        }
    }

    /// What has not left when the sending hours of a part end goes back; the database knows when they begin again.
    private mutating func closeHours(_ now: Int64, _ actions: inout [Action]) {
        for part in parts.values where !part.isFenced && !part.times.isClosed && !part.isClosing {
            guard let end = part.times.closesAt else { continue }
            if now < end {
                endings.expires(at: end)
            } else {
                parts[part.claim]?.times.isClosed = true
                endings.add(.closed)
                actions.append(.cancelQueued)
            }
        }
    }

    /// Recalls once more the messages that a halted delivery has in the gateway. Calls come from several threads, so a
    /// submit may have been carried out after the recall that followed it. One more call is enough; messages of other
    /// deliveries come back with it, too.
    mutating func cancelHalted(_ actions: inout [Action]) {
        let late = Set(parts.values.filter { $0.inGateway > 0 && halt(of: $0) != nil }.map(\.claimed.deliveryID))
        if endings.askAgain(late) { actions.append(.cancelQueued) }
    }

    /// Gives a part back to the database; ``Event/released(_:)`` reports when the database has it.
    mutating func giveBack(
        _ claim: PartToken,
        _ recovery: PartRecovery,
        _ actions: inout [Action],
        alone: Bool = false,
        problem: String? = nil
    ) {
        endings.release(claim)
        actions.append(alone ? .putAside(claim, recovery, reason: problem) : .release(claim, recovery))
    }

    /// Ends the parts of halted deliveries that have nothing left on the wire.
    mutating func resolveHalted(_ actions: inout [Action]) {
        guard admission.givesBack || !endings.causes.isEmpty || !pauses.halts.isEmpty else { return }
        for cause in endings.causes where !parts.values.contains(where: { $0.isEnding(for: cause) }) {
            endings.remove(cause)
        }
        // In part order, so that the same events have the same effects.
        for claim in parts.keys.sorted() {
            guard let part = parts[claim], part.inGateway == 0, !part.isFenced, !part.isClosing else { continue }
            switch halt(of: part) {
            case .close(let status, let reason): closeRest(claim, status, reason)
            // Its outcomes must be in the database before the next owner asks for them.
            case .giveBack where part.lastBatch <= outbox.stored:
                forget(claim)
                giveBack(claim, part.recovery, &actions, alone: part.goesAlone, problem: part.refusal)
            case .giveBack, nil: continue
            }
        }
    }

    /// Ends a part with one outcome for all undecided messages, except those that may have been sent.
    private mutating func closeRest(_ claim: PartToken, _ status: MessageStatus, _ reason: String) {
        abandonWaiting(of: claim)
        dropUndecided(claim)
        guard var part = parts[claim] else { return }
        waiting.removeAll { $0 == claim }
        part.slices = []
        let retries = Set(part.retries.map(\.row))
        let ambiguousRows = part.ambiguous.unanswered.union(part.ambiguous.reported)
        let resent = part.resent - Int32(part.ambiguous.lost.count { !retries.contains($0) })
        for row in part.ambiguous.lost.union(part.ambiguous.unanswered).sorted() {
            counters.counts.unknown += 1
            record(
                &part,
                row: row,
                .unknown,
                reason: "sent before, without an answer; not sent again: \(reason)",
                httpStatus: 0,
                gatewayMessageID: nil
            )
        }
        part.resent = resent
        part.isClosing = true
        part.lastBatch = outbox.number
        parts[claim] = part
        outbox.end(
            ClosingPart(
                part: claim.part,
                token: claim.token,
                resentAfterAmbiguity: resent,
                ambiguous: ambiguousRows.map { part.sequences[Int($0)] }.sorted(),
                restStatus: status,
                restReason: reason
            )
        )
    }

    /// Leaves a part's messages that wait to be resent to its next owner, or to the part's end.
    mutating func abandonWaiting(of claim: PartToken) {
        for var flight in flights.all where flight.claim == claim && flight.waiting > 0 {
            window.leave(flight.waiting)
            flight.dropWaiting()
            flight.letGo()
            flights.put(flight)
        }
    }

    /// Forgets a part.
    mutating func forget(_ claim: PartToken) {
        abandonWaiting(of: claim)
        dropUndecided(claim)
        waiting.removeAll { $0 == claim }
        guard let part = parts.removeValue(forKey: claim) else { return }
        outbox.leave(claim, lastBatch: part.lastBatch)
        let delivery = part.claimed.deliveryID
        // The next claim brings the delivery's state.
        if pauses.halts[delivery] != nil, !parts.values.contains(where: { $0.claimed.deliveryID == delivery }) {
            // The delivery is judged from scratch when it is resumed.
            if pauses.forget(delivery) { guards.topics[delivery] = nil }
        }
    }
}

/// How parts end, closed with their last outcomes or fenced, and what the journal keeps of them.
extension DispatchState {
    mutating func closeIfDone(_ claim: PartToken, _ now: Int64) {
        guard var part = parts[claim], part.open == 0, !part.isFenced, !part.isClosing else { return }
        // The rest of a stopped or expired delivery is not retried.
        if part.times.isExpired { return }
        if case .close = pauses.halts[part.claimed.deliveryID] { return }
        part.isClosing = true
        part.lastBatch = outbox.number
        parts[claim] = part
        outbox.end(part.closing(now: now, passed: gateway.lastPass))
    }

    /// - Parameter claims: the parts, with their tokens, in the stored batch.
    mutating func stored(
        _ report: StoreReport,
        _ claims: Set<PartToken>,
        _ windowRows: Int,
        _ actions: inout [Action]
    ) {
        outbox.wasStored()
        window.leave(windowRows)
        ended(report, claims, &actions)
    }

    /// - Parameter claims: the parts, with their tokens, that the report covers.
    mutating func ended(_ report: StoreReport, _ claims: Set<PartToken>, _ actions: inout [Action]) {
        counters.progress += 1
        counters.counts.lateOutcomes += Int64(report.late)
        var journal: [UInt8] = []
        let claims = claims.sorted()
        for claim in claims where report.closedParts.contains(claim.part) {
            guard let part = parts[claim], part.isClosing else { continue }
            counters.counts.resentAfterAmbiguity += Int64(part.resent) + Int64(part.ambiguous.unanswered.count)
            forget(claim)
            JournalEncoder.append(.closed(part: claim.part, token: claim.token), to: &journal)
        }
        if !journal.isEmpty { actions.append(.journal(journal)) }
        for part in Set(report.fencedParts).sorted() {
            // If a batch has several claims of one part, the older ones were fenced.
            let fenced = report.fencedParts.count { $0 == part }
            let claims = claims.filter { $0.part == part }
            for claim in claims.prefix(fenced) { fence(claim, &actions) }
        }
        for claim in claims where report.unbalancedParts.contains(claim.part) {
            guard let part = parts[claim], part.isClosing else { continue }
            forget(claim)
            giveBack(claim, part.recovery, &actions)
        }
        actions.append(.claimMore)
    }

    mutating func fence(_ claim: PartToken, _ actions: inout [Action]) {
        guard var part = parts[claim], !part.isFenced else { return }
        part.isFenced = true
        part.isClosing = false
        part.slices = []
        parts[claim] = part
        waiting.removeAll { $0 == claim }
        dropUndecided(claim)
        abandonWaiting(of: claim)
        dropIfFenced(claim)
    }

    /// A newer claim of the same part by this child proves that the older one was lost.
    mutating func fenceOlder(_ claimed: ClaimedPart, _ actions: inout [Action]) {
        let older = parts.keys.filter { $0.part == claimed.id && $0.token < claimed.fencingToken }
        guard !older.isEmpty else { return }
        for claim in older { fence(claim, &actions) }
        actions.append(.cancelQueued)
    }

    /// Forgets a fenced part once nothing of it is on the wire.
    mutating func dropIfFenced(_ claim: PartToken) {
        guard let part = parts[claim], part.isFenced, part.inGateway == 0 else { return }
        forget(claim)
    }

    /// The parts whose journal records the database may not have yet. These are the parts held here or on their way
    /// back, and former parts with outcomes in a batch that is not stored.
    var journaledClaims: Set<PartToken> {
        Set(parts.keys).union(endings.releasing).union(outbox.leaving.keys)
    }
}
