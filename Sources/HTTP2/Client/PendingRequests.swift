/// Requests that wait for a stream, in the order in which they were submitted.
struct PendingRequests {
    private struct Span {
        var batch: HTTP2RequestBatch
        var next: Int32
        var end: Int32
    }

    private var spans: [Span] = []
    private var head = 0
    private(set) var count = 0

    mutating func append(_ batch: HTTP2RequestBatch) {
        guard batch.count > 0 else { return }
        spans.append(Span(batch: batch, next: 0, end: Int32(batch.count)))
        count += batch.count
    }

    /// Takes the request that has waited longest.
    mutating func next() -> (batch: HTTP2RequestBatch, index: Int32)? {
        guard head < spans.count else { return nil }
        let batch = spans[head].batch
        let index = spans[head].next
        spans[head].next += 1
        count -= 1
        if spans[head].next == spans[head].end { dropHead() }
        return (batch, index)
    }

    /// Puts a request back in front.
    mutating func putBack(_ batch: HTTP2RequestBatch, index: Int32) {
        if head > 0 {
            head -= 1
            spans[head] = Span(batch: batch, next: index, end: index + 1)
        } else {
            spans.insert(Span(batch: batch, next: index, end: index + 1), at: 0)
        }
        count += 1
    }

    private mutating func dropHead() {
        head += 1
        // Moves the rest to the front now and then, so that the array neither grows for ever nor keeps the memory of more
        // batches that are done than of batches that wait.
        if head * 2 >= spans.count {
            spans.removeFirst(head)
            head = 0
        }
    }
}
