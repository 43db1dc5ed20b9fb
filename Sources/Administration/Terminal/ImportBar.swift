/// A progress bar for an import, on standard error if that is a terminal.
package struct ImportBar {
    private static let width = 30

    /// The size of the file in bytes.
    package let size: Int64
    private let isTerminal = StandardError.isTerminal

    /// Creates a bar that has shown nothing.
    package init(size: Int64) {
        self.size = size
    }

    /// Shows how far the import has got.
    package func show(bytes: Int64, subscriptions: Int) {
        guard isTerminal, size > 0 else { return }
        let share = min(1, Double(bytes) / Double(size))
        let filled = Int(share * Double(Self.width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        StandardError.rewrite("[\(bar)] \(Int(share * 100)) %  \(subscriptions) subscriptions")
    }

    /// Ends the line.
    package func finish() {
        if isTerminal { StandardError.write("\n") }
    }
}
