import PushCore

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

    /// How many of the first messages fit into so many bytes; the first one always does.
    func fitting(atMost room: Int, bytes: Int) -> Int {
        var found = 0
        var used = 0
        var position = head
        while position < spans.count {
            let span = spans[position]
            for row in span.next..<span.end {
                guard found < room else { return found }
                used += BinaryFrame.size(payload: span.batch.bodies.range(Int(row)).count)
                guard found == 0 || used <= bytes else { return found }
                found += 1
            }
            position += 1
        }
        return found
    }

    /// The first messages, as the owner is told of them.
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

    /// Takes the message that has waited longest.
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
        // Moves the rest to the front now and then, so that the array neither grows for ever nor keeps batches that are done.
        if head * 2 >= spans.count {
            spans.removeFirst(head)
            head = 0
        }
    }
}
