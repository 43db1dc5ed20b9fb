/// Says on standard error what a command waits for: one line that is rewritten on a terminal, a line when it changes elsewhere.
struct WaitDisplay {
    /// The time between two lines where nothing can be rewritten.
    private static let lineInterval = Duration.seconds(2)

    private let isTerminal = StandardError.isTerminal
    private var last = ""
    private var lastTime: ContinuousClock.Instant?
    private var wroteLine = false

    /// Shows what is waited for now.
    mutating func show(_ text: String) {
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

    /// Ends the line that was rewritten.
    mutating func finish() {
        if wroteLine { StandardError.write("\n") }
        wroteLine = false
    }
}
