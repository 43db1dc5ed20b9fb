import Synchronization

extension DrillSite {
    /// A number of the seed's sequence.
    func random<Number: FixedWidthInteger & Sendable>(in range: ClosedRange<Number>) -> Number {
        state.withLock { Number.random(in: range, using: &$0.random) }
    }

    /// One of these, by the seed's sequence; `nil` if there is none.
    func randomElement<Element: Sendable>(of elements: [Element]) -> Element? {
        state.withLock { elements.randomElement(using: &$0.random) }
    }

    /// These in an order by the seed's sequence.
    func shuffled<Element: Sendable>(_ elements: [Element]) -> [Element] {
        state.withLock { elements.shuffled(using: &$0.random) }
    }

    /// Lets a random time pass, so that faults land at moments that nobody chose. It waits for nothing.
    func pause(milliseconds range: ClosedRange<Int>) async throws {
        try await Task.sleep(for: .milliseconds(random(in: range)))
    }
}
