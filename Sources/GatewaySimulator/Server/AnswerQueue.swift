/// Answers by the moment at which they are sent. Answers due at about the same moment are sent together, so that a
/// thousand delayed answers do not need a thousand flushes.
struct AnswerQueue {
    /// Answers are sent together if they are due within half a millisecond, or within 2 % of their delay if that is
    /// more…
    private static var shortest: UInt64 { 500_000 }
    private static var share: UInt64 { 50 }
    /// …up to this many times half a millisecond, because a flush is cheap by then. Windows double in size, so that
    /// answers with different delays share their moments.
    private static var maxFactor: UInt64 { 8 }

    private var moments: [UInt64: AnswerGroup] = [:]
    /// The keys of `moments` as a binary heap.
    private var heap: [UInt64] = []

    /// When the first answers are due.
    var firstDue: UInt64? { heap.first }

    /// Passes the group of answers due at about a time, in nanoseconds of the event loop's clock.
    mutating func withMoment(of due: UInt64, delay: UInt64, _ body: (inout AnswerGroup) -> Void) {
        var together = Self.shortest
        while together < Self.maxFactor * Self.shortest, 2 * together <= delay / Self.share { together *= 2 }
        let moment = (due + together - 1) / together * together
        body(&moments[moment, default: AnswerGroup()])
        if moments.count > heap.count { push(moment) }
    }

    /// Removes and returns the groups due by a time, in order.
    mutating func take(dueBy time: UInt64) -> [AnswerGroup] {
        var taken: [AnswerGroup] = []
        while let first = heap.first, first <= time {
            pop()
            if let answers = moments.removeValue(forKey: first) { taken.append(answers) }
        }
        return taken
    }

    private mutating func push(_ moment: UInt64) {
        heap.append(moment)
        var child = heap.count - 1
        while child > 0, heap[child] < heap[(child - 1) / 2] {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func pop() {
        let last = heap.removeLast()
        guard !heap.isEmpty else { return }
        heap[0] = last
        var parent = 0
        while true {
            var first = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child] < heap[first] {
                first = child
            }
            guard first != parent else { return }
            heap.swapAt(first, parent)
            parent = first
        }
    }
}
