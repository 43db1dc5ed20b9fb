/// A first-in, first-out queue whose `popFirst` does not move the other elements each time.
struct FIFO<Element> {
    private var elements: [Element] = []
    private var head = 0

    /// The number of elements.
    var count: Int { elements.count - head }
    var isEmpty: Bool { count == 0 }
    var first: Element? { isEmpty ? nil : elements[head] }
    var last: Element? { isEmpty ? nil : elements[elements.count - 1] }
    var indices: Range<Int> { 0..<count }

    /// The element at this distance from the head.
    subscript(index: Int) -> Element {
        get { elements[head + index] }
        set { elements[head + index] = newValue }
    }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func prepend(_ element: Element) {
        elements.insert(element, at: head)
    }

    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[head]
        head += 1
        // A popped element stays alive until its slot is removed. So compact when empty, and when half is stale.
        if head == elements.count {
            elements.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 32, head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    mutating func remove(at index: Int) -> Element { elements.remove(at: head + index) }

    mutating func removeAll() -> [Element] {
        defer {
            elements = []
            head = 0
        }
        return Array(elements[head...])
    }
}
