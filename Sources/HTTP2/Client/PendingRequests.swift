/// Requests that wait for a stream, in the order of submission; urgent batches precede the others.
struct PendingRequests {
    private struct Span {
        var batch: HTTP2RequestBatch
        var next: Int32
        var end: Int32
    }

    private var spans: [Span] = []
    private var head = 0
    private(set) var count = 0
    /// The number of urgent ones.
    private(set) var urgent = 0
    /// The number of requests at the front that were announced.
    private var announced = 0

    mutating func append(_ batch: HTTP2RequestBatch) {
        guard batch.count > 0 else { return }
        let span = Span(batch: batch, next: 0, end: Int32(batch.count))
        count += batch.count
        guard batch.isUrgent else { return spans.append(span) }
        urgent += batch.count
        spans.insert(span, at: placeForUrgent())
    }

    /// The position after the announced requests and the other urgent batches. A partly announced batch is split there.
    private mutating func placeForUrgent() -> Int {
        var position = head
        var known = announced
        while position < spans.count {
            let length = Int(spans[position].end - spans[position].next)
            if known >= length {
                known -= length
            } else if known > 0 {
                var rest = spans[position]
                rest.next += Int32(known)
                spans[position].end = rest.next
                spans.insert(rest, at: position + 1)
                known = 0
            } else if !spans[position].batch.isUrgent {
                break
            }
            position += 1
        }
        return position
    }

    /// The request that has waited longest.
    var first: (batch: HTTP2RequestBatch, index: Int32)? {
        head < spans.count ? (spans[head].batch, spans[head].next) : nil
    }

    /// The requests at the front that belong to one batch.
    func firstRun(atMost limit: Int) -> HTTP2Departure? {
        guard head < spans.count else { return nil }
        let span = spans[head]
        let length = min(limit, Int(span.end - span.next))
        return HTTP2Departure(batch: span.batch, range: span.next..<span.next + Int32(length))
    }

    /// Removes the requests that have waited longest; at most as many as ``firstRun(atMost:)`` has returned.
    mutating func removeFirst(_ taken: Int = 1) {
        guard head < spans.count else { return }
        spans[head].next += Int32(taken)
        count -= taken
        if spans[head].batch.isUrgent { urgent -= taken }
        announced = max(0, announced - taken)
        if spans[head].next >= spans[head].end { dropHead() }
    }

    /// Removes and returns the request that has waited longest.
    mutating func next() -> (batch: HTTP2RequestBatch, index: Int32)? {
        guard let first else { return nil }
        removeFirst()
        return first
    }

    /// How many of the first requests have bodies that fit into the window.
    ///
    /// A body that fits only in part would be sent in part. Its stream would then wait for the window behind all
    /// others, and under a constant flow of new requests never finish. So new requests wait for the window, in order.
    ///
    /// - Parameters:
    ///   - taken: the number of requests at the front that go to other connections.
    ///   - unsent: the bytes of bodies queued before them; if there are none, the first request always fits.
    ///   - window: the bytes that the server accepts now.
    func fitting(behind taken: Int = 0, atMost room: Int, unsent: Int, window: Int) -> Int {
        var unsent = unsent
        var found = 0
        var skipped = taken
        var position = head
        while position < spans.count {
            let batch = spans[position].batch
            let length = Int(spans[position].end - spans[position].next)
            let start = spans[position].next + Int32(min(skipped, length))
            skipped -= min(skipped, length)
            for index in start..<spans[position].end {
                guard found < room else { return found }
                let length = batch.bodyLength(index)
                guard unsent == 0 || unsent + length <= window else { return found }
                unsent += length
                found += 1
            }
            position += 1
        }
        return found
    }

    /// Appends those of the first `leaving` requests that were not announced yet, and marks them as announced.
    mutating func announce(_ leaving: Int, into departures: inout [HTTP2Departure]) {
        var known = announced
        var rest = leaving
        var position = head
        while rest > 0, position < spans.count {
            let span = spans[position]
            let end = span.next + Int32(min(rest, Int(span.end - span.next)))
            let start = span.next + Int32(min(known, Int(end - span.next)))
            if start < end { departures.append(HTTP2Departure(batch: span.batch, range: start..<end)) }
            known -= Int(start - span.next)
            rest -= Int(end - span.next)
            position += 1
        }
        announced = max(announced, leaving)
    }

    private mutating func dropHead() {
        head += 1
        // Moves the rest to the front now and then. So the array does not grow endlessly, and never retains more
        // finished batches than waiting ones.
        if head * 2 >= spans.count {
            spans.removeFirst(head)
            head = 0
        }
    }
}
