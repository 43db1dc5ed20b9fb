/// Says on standard error what a command waits for: one line that is rewritten on a terminal, and a new line on each
/// change elsewhere.
package struct WaitDisplay {
    package init() {}

    /// The interval between lines if nothing can be rewritten.
    private static let lineInterval = Duration.seconds(2)

    private let isTerminal = StandardError.isTerminal
    private var last = ""
    private var lastTime: ContinuousClock.Instant?
    private var wroteLine = false

    /// Shows what the command waits for now.
    package mutating func show(_ text: String) {
        guard text != last else { return }
        if isTerminal {
            StandardError.rewrite(text)
            wroteLine = true
        } else {
            let now = ContinuousClock.now
            guard lastTime.map({ now - $0 >= Self.lineInterval }) ?? true else { return }
            StandardError.write(text + "\n")
            lastTime = now
        }
        last = text
    }

    /// Ends the rewritten line.
    package mutating func finish() {
        if wroteLine { StandardError.write("\n") }
        wroteLine = false
    }
}
