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

    /// The request that has waited longest.
    var first: (batch: HTTP2RequestBatch, index: Int32)? {
        head < spans.count ? (spans[head].batch, spans[head].next) : nil
    }

    /// Takes away the request that has waited longest.
    mutating func removeFirst() {
        guard head < spans.count else { return }
        spans[head].next += 1
        count -= 1
        if spans[head].next == spans[head].end { dropHead() }
    }

    /// Takes the request that has waited longest.
    mutating func next() -> (batch: HTTP2RequestBatch, index: Int32)? {
        guard let first else { return nil }
        removeFirst()
        return first
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
