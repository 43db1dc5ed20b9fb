import Gateways
import HTTP2
import NIOCore
import PushCore

/// How messages wait, leave and are resolved.
extension BinaryPool {
    func submit(_ batch: GatewayRequestBatch) {
        guard batch.count > 0 else { return }
        guard !ending.isStopping else {
            for row in 0..<Int32(clamping: batch.count) { delivery.returning.append((batch, Self.notSent(row))) }
            return giveBackSoon()
        }
        var start: Int32 = 0
        let (tokens, bodies, type) = (batch.tokens, batch.bodies, batch.attributes.pushType)
        for row in 0..<Int32(clamping: batch.count) {
            let payload = bodies.range(Int(row)).count
            guard let refusal = admission.refusal(row, type, token: tokens[Int(row)], payload: payload) else {
                continue
            }
            waiting.append(batch, start..<row)
            start = row + 1
            delivery.returning.append((batch, refusal))
        }
        waiting.append(batch, start..<Int32(clamping: batch.count))
        giveBackSoon()
        if delivery.isUnderWay { delivery.hasNewMessages = true } else { pump() }
    }

    private static func notSent(_ row: Int32) -> Outcome {
        Outcome(index: row, outcomeClass: .unprocessed, reason: NoAnswerReason.cancelled, neverLeft: true)
    }

    /// Returns all messages that wait for a connection.
    func cancelQueued() {
        takeBack()
        giveBack()
    }

    private func takeBack() {
        while let message = waiting.next() { delivery.returning.append((message.batch, Self.notSent(message.row))) }
    }

    /// Returns messages in a task of its own, because the caller may be in the middle of submitting.
    private func giveBackSoon() {
        guard !delivery.returning.isEmpty, !delivery.returnIsScheduled else { return }
        delivery.returnIsScheduled = true
        eventLoop.assumeIsolated().execute {
            self.delivery.returnIsScheduled = false
            self.giveBack()
        }
    }

    func giveBack() {
        guard !delivery.returning.isEmpty else { return }
        let outcomes = delivery.returning
        delivery.returning = []
        var resolved = ResolvedBatches(expected: outcomes.count)
        for (batch, outcome) in outcomes { resolved.add(outcome, 0, batch) }
        deliver(resolved)
    }

    /// Messages were resolved.
    func resolved(_ resolved: [BinaryResolved<BinaryMessage>]) {
        if pacing.isRecovering, resolved.contains(where: \.fate.provesConnection) { pacing.answered() }
        var batches = ResolvedBatches(expected: resolved.count)
        var work = FollowUp()
        var taken = 0
        for message in resolved {
            let (outcome, decision) = BinaryJudge.outcome(message)
            if outcome.outcomeClass == .accepted { taken += 1 }
            if let decision { work.note(decision, of: message.message.batch.deliveryID) }
            let latency = UInt32(clamping: max(1, message.age / 1_000))
            batches.add(outcome, latency, message.message.batch)
        }
        if taken > 0 { sendAhead.taken(taken) }
        deliver(batches)
        if taken > 0, reports.isInTrouble { tell(reports.accepted()) }
        for decision in work.decisions { tell(reports.answer(decision)) }
        if taken > 0 { pumpSoon() }
    }

    private func deliver(_ resolved: ResolvedBatches) {
        let wasDelivering = delivery.isUnderWay
        delivery.isUnderWay = true
        for batch in resolved.all {
            delegate?.resolved(batch.batch, batch.outcomes, latencyMicroseconds: batch.latencies)
        }
        delivery.isUnderWay = wasDelivering
        if delivery.hasNewMessages { pumpSoon() }
    }

    // MARK: Leaving

    /// Distributes waiting messages over the connections with room.
    func pump() {
        guard !delivery.isUnderWay else {
            delivery.hasNewMessages = true
            return
        }
        delivery.hasNewMessages = false
        var hasSent = true
        // Each gets a chunk in turn, so that a burst uses all of them.
        while hasSent, waiting.count > 0 {
            hasSent = false
            for connection in connections where waiting.count > 0 {
                if fill(connection) { hasSent = true }
            }
        }
        dialMissing()
    }

    /// Distributes waiting messages in a task of its own.
    func pumpSoon() {
        guard !delivery.pumpIsScheduled else { return }
        delivery.pumpIsScheduled = true
        eventLoop.assumeIsolated().execute {
            self.delivery.pumpIsScheduled = false
            self.pump()
        }
    }

    /// Writes one chunk to a connection; returns whether anything left.
    private func fill(_ connection: BinaryConnection) -> Bool {
        let room = connection.room(sendAhead.limit)
        guard room > 0 else { return false }
        let number = waiting.fitting(atMost: room, bytes: BinaryConnection.piece)
        guard number > 0, announce(number) else { return false }
        var messages: [BinaryMessage] = []
        messages.reserveCapacity(number)
        while messages.count < number, let message = waiting.next() { messages.append(message) }
        connection.send(messages, now: seconds)
        return true
    }

    /// Tells the owner which messages are about to leave. If they must not, all waiting messages are returned.
    private func announce(_ number: Int) -> Bool {
        delivery.isUnderWay = true
        // Without an owner, the answers would be lost.
        let mayLeave = delegate?.aboutToSend(waiting.departures(number)) ?? false
        delivery.isUnderWay = false
        // Messages submitted meanwhile wait until the caller has finished with this connection.
        if delivery.hasNewMessages { pumpSoon() }
        guard mayLeave else {
            takeBack()
            giveBackSoon()
            return false
        }
        CrashPoint.beforeWrite.reached()
        return true
    }
}

/// Messages that wait for a connection, in the order in which they were submitted.
struct WaitingMessages: Sendable {
    private struct Span {
        var batch: GatewayRequestBatch
        var next: Int32
        var end: Int32
    }

    private var spans: [Span] = []
    private var head = 0
    private(set) var count = 0

    /// Appends rows of a batch.
    mutating func append(_ batch: GatewayRequestBatch, _ rows: Range<Int32>) {
        guard !rows.isEmpty else { return }
        spans.append(Span(batch: batch, next: rows.lowerBound, end: rows.upperBound))
        count += rows.count
    }

    /// How many of the first messages fit into this many bytes; at least one.
    func fitting(atMost room: Int, bytes: Int) -> Int {
        var found = 0
        var used = 0
        var position = head
        while position < spans.count {
            let span = spans[position]
            let bodies = span.batch.bodies
            for row in span.next..<span.end {
                guard found < room else { return found }
                used += BinaryFrame.size(payload: bodies.range(Int(row)).count)
                guard found == 0 || used <= bytes else { return found }
                found += 1
            }
            position += 1
        }
        return found
    }

    /// The first messages, in the form for the owner.
    func departures(_ number: Int) -> [GatewayDeparture] {
        var departures: [GatewayDeparture] = []
        var rest = number
        var position = head
        while rest > 0, position < spans.count {
            let span = spans[position]
            let end = span.next + Int32(clamping: min(rest, Int(span.end - span.next)))
            if departures.last?.batch === span.batch {
                departures[departures.count - 1].ranges.append(span.next..<end)
            } else {
                departures.append(GatewayDeparture(batch: span.batch, ranges: [span.next..<end]))
            }
            rest -= Int(end - span.next)
            position += 1
        }
        return departures
    }

    /// Removes the message that has waited longest.
    mutating func next() -> BinaryMessage? {
        guard head < spans.count else { return nil }
        let message = BinaryMessage(batch: spans[head].batch, row: spans[head].next)
        spans[head].next += 1
        count -= 1
        if spans[head].next >= spans[head].end { dropHead() }
        return message
    }

    private mutating func dropHead() {
        head += 1
        // Moves the rest to the front from time to time, so that the array neither grows forever nor retains finished
        // batches.
        if head * 2 >= spans.count {
            spans.removeFirst(head)
            head = 0
        }
    }
}
