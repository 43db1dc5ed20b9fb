/// Answers by the time at which they are due: a binary heap.
struct AnswerQueue<Rules: GatewayRules> {
    private var heap: [DelayedAnswer<Rules>] = []

    var isEmpty: Bool { heap.isEmpty }

    /// When the first one is due.
    var firstDue: UInt64? { heap.first?.due }

    mutating func insert(_ answer: DelayedAnswer<Rules>) {
        heap.append(answer)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].isBefore(heap[parent]) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes the first answer if it is due by then.
    mutating func take(dueBy time: UInt64) -> DelayedAnswer<Rules>? {
        guard let first = heap.first, first.due <= time else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return first }
        heap[0] = last
        sink()
        return first
    }

    /// Takes them all, in order.
    mutating func takeAll() -> [DelayedAnswer<Rules>] {
        defer { heap = [] }
        return heap.sorted { $0.isBefore($1) }
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var first = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].isBefore(heap[first])
            {
                first = child
            }
            guard first != parent else { return }
            heap.swapAt(first, parent)
            parent = first
        }
    }
}
