import Gateways
import PushCore
import Store

/// From the claim to the gateway.
extension DispatchState {
    mutating func prepared(_ prepared: PreparedPart, _ now: Int64, _ actions: inout [Action]) {
        var part = HeldPart(prepared)
        part.received(at: moment)
        counters.progress += 1
        pauses.claim(prepared.claimed.deliveryID, Halt(prepared.claimed.deliveryState))
        pace.claim(prepared.claimed.deliveryID, prepared.delivery.rateLimit)
        if prepared.claimed.isProbe { admission.probeCircuit() }
        if let end = part.validUntilMilliseconds { endings.expires(at: end) }
        if let end = part.times.closesAt { endings.expires(at: end) }
        let isHalted = halt(of: part) != nil || part.isOver(atMilliseconds: now)
        for decided in prepared.decided where !isHalted || decided.status == .unknown {
            switch decided.status {
            case .failed: counters.counts.failed += 1
            case .unknown: counters.counts.unknown += 1
            default: break
            }
            record(
                &part,
                row: decided.row,
                decided.status,
                reason: decided.reason,
                httpStatus: 0,
                gatewayMessageID: nil,
                failure: decided.status == .failed ? gatewayAnswers?.check(reason: decided.reason).failure : nil,
                isDecision: true
            )
        }
        if !isHalted { counters.counts.retried += Int64(part.retries.count) }
        // The key includes the token, because this child may claim a part again while messages of an earlier claim are
        // on the wire.
        parts[part.claim] = part
        if !part.slices.isEmpty { wait(part) }
        closeIfDone(part.claim, now)
    }

    /// Queues a part after all that are at least as urgent, and before less urgent ones.
    private mutating func wait(_ part: HeldPart) {
        let place = waiting.firstIndex { (parts[$0]?.claimed.priority ?? .min) < part.claimed.priority }
        waiting.insert(part.claim, at: place ?? waiting.endIndex)
    }

    /// Requests marks for as many of the next slices as the window admits, and resends messages that waited for it.
    mutating func dispatch(_ actions: inout [Action]) {
        guard admission.maySend else { return }
        guard gateway.rampAdmits(at: moment) else { return }
        if admission.isProbing {
            // One message at a time: the next leaves only when the last one has its answer, or no longer waits for it.
            guard admission.mayProbe, !window.isMarking,
                admission.isProbingGateway ? !awaitsProbe(at: moment) : window.inGateway == 0
            else { return }
        }
        // A message that was refused as a probe lets others go first, because the fault may be its own.
        let hasFresh = admission.isProbing && splitForProbe()
        if !admission.isProbingGateway || !hasFresh { sendDue(&actions) }
        guard !window.isMarking, !waiting.isEmpty, admission.mayProbe,
            admission.circuit != .probing || window.inGateway == 0
        else { return }
        var marks: [PartMark] = []
        var bytes = flights.byteCount
        var reported: Int?
        let isPaced = !pace.isFree && !admission.isProbing
        if isPaced { pace.begin(at: moment) }
        for claim in waiting {
            guard let part = parts[claim], halt(of: part) == nil,
                let next = part.triesCredential ? single(part) : isPaced ? paced(part) : part.nextSlices,
                let first = next.first
            else {
                // A draining child has to see each part: parts that a limit holds go back.
                if isPaced, pace.knowsEnough, !admission.isDraining { break }
                continue
            }
            let slices = admission.isProbing ? [first] : next
            let rows = slices.messageCount
            if part.delivery.ambiguityPolicy == .report {
                let others = reported ?? reportedOnTheWire
                guard window.admitsReported(rows, beside: others, unstored: outbox.reportedUnstored) else { continue }
                reported = others + rows
            }
            bytes += slices.byteCount
            guard window.admits(rows, bytes: bytes, isUrgent: first.batch.isUrgent) else { break }
            guard gateway.rampAdmits(at: moment) else { break }
            gateway.countInRamp(rows)
            if isPaced { pace.use(rows, of: part.claimed.deliveryID, at: moment) }
            window.reserve(rows)
            parts[claim]?.slicesMarked = slices.count
            // The mark covers no more than what leaves, even if a rate cuts a part: when a host is lost, everything
            // below a mark counts as sent.
            let through = slices.reduce(0) { max($0, min($1.markThrough, ($1.rows.max() ?? -1) + 1)) }
            marks.append(PartMark(part: claim.part, token: claim.token, through: through))
            useProbe()
            if admission.isProbing { break }
        }
        if isPaced, admission.isDraining { leaveHeld(besides: marks) }
        if isPaced { followPace(&actions) }
        guard !marks.isEmpty else { return }
        actions.append(.mark(marks))
    }

    /// Splits off one message of a part whose messages have waited apart; nil while the last one is undecided.
    private mutating func single(_ part: HeldPart) -> ArraySlice<PreparedPart.Slice>? {
        guard part.inGateway == 0, let slice = part.slices.first,
            !flights.all.contains(where: { $0.claim == part.claim && $0.waiting > 0 })
        else { return nil }
        guard slice.rows.count > 1 else { return part.slices.prefix(1) }
        let (one, rest) = slice.split(1, firstID: newBatchID(), restID: newBatchID())
        parts[part.claim]?.slices = [one, rest] + part.slices.dropFirst()
        return [one]
    }

    /// Splits off as much of the part's next slices as its limits let leave now; nil if that is nothing.
    private mutating func paced(_ part: HeldPart) -> ArraySlice<PreparedPart.Slice>? {
        guard let next = part.nextSlices else { return nil }
        var room = pace.room(for: next.messageCount, of: part.claimed.deliveryID)
        var slices: [PreparedPart.Slice] = []
        for slice in next where room > 0 {
            guard slice.rows.count > room else {
                slices.append(slice)
                room -= slice.rows.count
                continue
            }
            let (first, rest) = slice.split(room, firstID: newBatchID(), restID: newBatchID())
            slices.append(first)
            parts[part.claim]?.slices = slices + [rest] + part.slices.dropFirst(slices.count)
            break
        }
        return slices.isEmpty ? nil : slices[...]
    }

    /// Gives back the parts that a limit holds, because this child is draining. At their delivery's rate they could
    /// keep it for minutes, while any other owner sends them just as fast. Their messages on the wire are answered here
    /// first.
    private mutating func leaveHeld(besides marks: [PartMark]) {
        let marked = Set(marks.map(\.claim))
        for claim in waiting where !marked.contains(claim) {
            guard let part = parts[claim], !part.isLeft, halt(of: part) == nil, pace.holds(part.claimed.deliveryID)
            else {
                continue
            }
            parts[claim]?.isLeft = true
            endings.add(.left)
        }
    }

    /// Schedules the next look at the pace, and requests more slices if needed.
    private mutating func followPace(_ actions: inout [Action]) {
        if let pause = pace.nextLook(at: moment) { actions.append(.lookAgain(after: pause)) }
        if pace.needsSlices(at: moment) { actions.append(.askForSlices) }
    }

    /// What keeps messages from leaving faster right now.
    func limit(queuedInGateway queued: Int) -> SendingLimit {
        if admission.trouble != .none { return .trouble }
        if admission.circuit != .closed { return .circuit }
        guard !parts.isEmpty else { return .work }
        if pace.keepsBack { return .rate }
        if queued > 0 { return .connections }
        guard let next = waiting.lazy.compactMap({ parts[$0]?.nextSlices }).first else { return .loading }
        let bytes = flights.byteCount + next.byteCount
        let isFull = !window.admits(next.messageCount, bytes: bytes, isUrgent: next[next.startIndex].batch.isUrgent)
        return isFull ? .window : .loading
    }

    mutating func marked(_ marks: [PartMark], _ held: Set<Int64>, _ actions: inout [Action]) {
        window.endMarking()
        counters.progress += 1
        for mark in marks {
            let claim = mark.claim
            guard let next = parts[claim], !next.slices.isEmpty else { continue }
            let slices = next.slices.prefix(next.slicesMarked)
            if !held.contains(claim.part) { fence(claim, &actions) }
            // Messages that must not leave now wait and are marked again. A mark may cover too much without harm.
            guard admission.maySend, var part = parts[claim], !part.isFenced, halt(of: part) == nil else { continue }
            // A new array: otherwise the part would keep the memory of its batches until its end.
            part.slices = Array(part.slices.dropFirst(slices.count))[...]
            parts[claim] = part
            if part.slices.isEmpty { waiting.removeAll { $0 == claim } }
            for slice in slices {
                window.enter(slice.rows.count)
                submit(Flight(claim: claim, rows: slice.rows, batch: slice.batch), &actions)
            }
        }
        actions.append(.claimMore)
    }

    private mutating func submit(_ flight: Flight, _ actions: inout [Action]) {
        flights.put(flight)
        parts[flight.claim]?.submit(flight.rows.count)
        window.submit(flight.rows.count, isReported: parts[flight.claim]?.isReported == true)
        actions.append(.submit(flight.batch))
    }

    /// Reduces the next slice to one message.
    ///
    /// Where only answers are lost, no user should get a message with every probe. So a message that may have arrived
    /// is not used as long as there is another. Each owner of a part takes another message, far from the last one. So a
    /// run of adjacent messages that are refused on their own account does not hide that the gateway has recovered.
    /// - Returns: whether there is a message that was never sent without getting an answer.
    private mutating func splitForProbe() -> Bool {
        guard let claim = waiting.first(where: { parts[$0].map { halt(of: $0) == nil } == true }),
            let part = parts[claim], !part.slices.isEmpty
        else { return false }
        let isClean = { (row: Int32) in !part.isAmbiguous(row) }
        let place = part.slices.firstIndex { $0.rows.contains(where: isClean) }
        var slices = Array(part.slices)
        let slice = slices.remove(at: (place ?? part.slices.startIndex) - part.slices.startIndex)
        let clean = slice.rows.indices.filter { isClean(slice.rows[$0]) }
        let index = clean.isEmpty ? 0 : clean[Self.place(ofProbe: part.claimed.fencingToken, among: clean.count)]
        guard slice.rows.count > 1 else {
            parts[claim]?.slices = [slice] + slices
            return place != nil
        }
        let others = slice.rows.indices.filter { $0 != index }.map { Int32($0) }
        let first = PreparedPart.Slice(
            rows: [slice.rows[index]],
            batch: slice.batch.subset([Int32(index)], id: newBatchID()),
            markThrough: slice.rows[index] + 1
        )
        let rest = PreparedPart.Slice(
            rows: others.map { slice.rows[Int($0)] },
            batch: slice.batch.subset(others, id: newBatchID()),
            markThrough: slice.markThrough
        )
        parts[claim]?.slices = [first, rest] + slices
        return place != nil
    }

    /// The golden ratio: its multiples, taken modulo 1, are spread evenly at any length of the sequence.
    private static let goldenRatio = 0.618_033_988_749_895

    /// The index of the message, among this many, that an owner takes as its probe.
    static func place(ofProbe token: Int64, among count: Int) -> Int {
        let turn = Double(max(0, token - 1)) * goldenRatio
        return min(count - 1, Int((turn - turn.rounded(.down)) * Double(count)))
    }

    private mutating func newBatchID() -> Int64 {
        nextBatchID += 1
        return nextBatchID
    }

    // MARK: Sending again

    /// Messages of deliveries with the policy `report` that are on the wire, or will be resent without a new mark.
    private var reportedOnTheWire: Int {
        flights.all.reduce(window.reported) { sum, flight in
            guard flight.waiting > 0, parts[flight.claim]?.delivery.ambiguityPolicy == .report else { return sum }
            return sum + flight.waiting
        }
    }

    private mutating func sendDue(_ actions: inout [Action]) {
        guard !due.isEmpty else { return }
        let batches = due
        due = []
        for (place, batchID) in batches.enumerated() {
            guard let flight = flights[batchID], flight.waiting > 0, let part = parts[flight.claim] else { continue }
            // A halted part ends, or continues when its delivery does.
            guard halt(of: part) == nil else {
                due.append(batchID)
                continue
            }
            if admission.isProbing {
                sendOneAgain(flight, &actions)
                useProbe()
                due += batches[(place + 1)...]
                if flights[batchID]?.waiting ?? 0 > 0 { due.append(batchID) }
                return
            }
            sendAgain(flight, &actions)
            gateway.countInRamp(flight.waiting)
        }
    }

    /// A probe is one message, however many of its batch wait to be resent.
    private mutating func sendOneAgain(_ flight: Flight, _ actions: inout [Action]) {
        var rest = flight
        guard let (index, isNextAttempt) = rest.takeWaiting() else { return }
        submitAgain(flight, [index], attempt: flight.attempt + (isNextAttempt ? 1 : 0), &actions)
        rest.letGo()
        flights.put(rest)
    }

    private mutating func sendAgain(_ flight: Flight, _ actions: inout [Action]) {
        if flight.unsent.count == flight.rows.count {
            // The whole batch is resent unchanged.
            return submit(
                Flight(claim: flight.claim, rows: flight.rows, batch: flight.batch, attempt: flight.attempt),
                &actions
            )
        }
        submitAgain(flight, flight.resend, attempt: flight.attempt + 1, &actions)
        submitAgain(flight, flight.unsent, attempt: flight.attempt, &actions)
        var rest = flight
        rest.dropWaiting()
        rest.letGo()
        flights.put(rest)
    }

    private mutating func submitAgain(
        _ flight: Flight,
        _ indexes: [Int32],
        attempt: Int,
        _ actions: inout [Action]
    ) {
        guard !indexes.isEmpty else { return }
        let again = Flight(
            claim: flight.claim,
            rows: indexes.map { flight.rows[Int($0)] },
            batch: flight.batch.subset(indexes, id: newBatchID()),
            attempt: attempt
        )
        submit(again, &actions)
    }
}

/// The last check, when messages get their streams.
extension DispatchState {
    /// The intents of the messages that are about to leave, to be journaled first.
    ///
    /// No message leaves if the lease has run out, its delivery is halted or expired, or its part is fenced. The same
    /// holds while sending is paused or the child shuts down.
    ///
    /// - Parameter isLeaseValid: called here, so that no renewal comes between its answer and what follows from it.
    /// - Returns: the journal records; nil if these messages and all that wait in the gateway have to come back.
    mutating func aboutToSend(
        _ departures: [GatewayDeparture],
        now: Int64,
        isLeaseValid isValid: () -> Bool
    ) -> [UInt8]? {
        guard isValid() else {
            admission.lease(isValid: false)
            return nil
        }
        guard admission.maySend, departures.allSatisfy({ mayLeave($0.batch.id, now) }) else { return nil }
        var journal: [UInt8] = []
        for departure in departures {
            guard let flight = flights[departure.batch.id], let part = parts[flight.claim] else { continue }
            var ranges: [ClosedRange<Int32>] = []
            for range in departure.ranges where !range.isEmpty {
                flights.depart(range, of: departure.batch.id)
                let sequences = range.lazy.map { part.sequences[Int(flight.rows[Int($0)])] }
                ranges += Self.ranges(sequences)
            }
            JournalEncoder.appendIntent(
                part: flight.claim.part,
                token: flight.claim.token,
                ranges: ranges,
                to: &journal
            )
        }
        return journal
    }

    private func mayLeave(_ batchID: Int64, _ now: Int64) -> Bool {
        guard let flight = flights[batchID], let part = parts[flight.claim], !part.isFenced else { return false }
        return pauses.halts[part.claimed.deliveryID] == nil && part.refusal == nil
            && !part.isOver(atMilliseconds: now)
    }
}

extension PreparedPart.Slice {
    /// Splits the slice into its first `count` messages and the others.
    func split(_ count: Int, firstID: Int64, restID: Int64) -> (first: Self, rest: Self) {
        let (head, tail) = (Array(rows[..<count]), Array(rows[count...]))
        let first = Self(
            rows: head,
            batch: batch.subset(Array(0..<Int32(count)), id: firstID),
            // Rows of several locales are not in sequence order.
            markThrough: min(markThrough, (head.max() ?? 0) + 1)
        )
        let rest = Self(
            rows: tail,
            batch: batch.subset(Array(Int32(count)..<Int32(rows.count)), id: restID),
            markThrough: markThrough
        )
        return (first, rest)
    }
}

extension GatewayRequestBatch {
    /// Some of the messages, as a new batch.
    func subset(_ indexes: [Int32], id: Int64) -> GatewayRequestBatch {
        var tokens = ByteColumn()
        var bodies = ByteColumn()
        let (allTokens, allBodies, allCollapseIDs) = (self.tokens, self.bodies, self.collapseIDs)
        var collapseIDs: ByteColumn? = allCollapseIDs == nil ? nil : ByteColumn()
        for index in indexes {
            tokens.append(allTokens[Int(index)])
            bodies.append(allBodies[Int(index)])
            if let column = allCollapseIDs {
                column.isNull(Int(index)) ? collapseIDs?.appendNull() : collapseIDs?.append(column[Int(index)])
            }
        }
        return GatewayRequestBatch(
            id: id,
            tokens: tokens,
            messageIDs: indexes.map { messageIDs[Int($0)] },
            bodies: bodies,
            attributes: attributes,
            collapseIDs: collapseIDs,
            isUrgent: isUrgent,
            deliveryID: deliveryID,
            dueMilliseconds: dueMilliseconds
        )
    }
}
