import PushCore
import Store

/// A progress bar on standard error: one line that is rewritten on a terminal, and an occasional line elsewhere.
package struct ProgressDisplay {
    /// The period over which the rate is measured: long enough to be steady, short enough to follow changes.
    private static let rateWindow = Duration.seconds(2)
    /// The interval between lines if nothing can be rewritten.
    private static let lineInterval = Duration.seconds(2)
    private static let width = 30

    /// Whether nothing is shown.
    package let isQuiet: Bool
    private let isTerminal = StandardError.isTerminal
    private var samples: [(time: ContinuousClock.Instant, resolved: Int64)] = []
    private var lastLine: ContinuousClock.Instant?
    private var wroteBar = false

    /// Creates a display that has shown nothing.
    package init(isQuiet: Bool = false) {
        self.isQuiet = isQuiet
    }

    /// Shows a delivery's counts as of `now`.
    package mutating func show(_ progress: DeliveryProgress, at now: ContinuousClock.Instant) {
        guard !isQuiet else { return }
        let resolved = progress.target - progress.pending
        samples.append((now, resolved))
        while let first = samples.first, samples.count > 2, now - first.time > Self.rateWindow { samples.removeFirst() }
        let text = line(progress, resolved: resolved, rate: rate)
        if isTerminal {
            StandardError.rewrite(text)
            wroteBar = true
        } else if progress.state.isFinal || lastLine.map({ now - $0 >= Self.lineInterval }) ?? true {
            StandardError.write(text + "\n")
            lastLine = now
        }
    }

    /// Ends the rewritten line.
    package mutating func finish() {
        if wroteBar { StandardError.write("\n") }
        wroteBar = false
    }

    private var rate: Double {
        guard let first = samples.first, let last = samples.last, last.time > first.time else { return 0 }
        return Double(last.resolved - first.resolved) / ((last.time - first.time) / .seconds(1))
    }

    private func line(_ progress: DeliveryProgress, resolved: Int64, rate: Double) -> String {
        let share = progress.target > 0 ? Double(resolved) / Double(progress.target) : 0
        let filled = Int(share * Double(Self.width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        var text = "[\(bar)] \(Int(share * 100)) %  \(resolved)/\(progress.target) \(progress.state.rawValue)"
        text += "  sent \(progress.sent)  failed \(progress.failed)  pending \(progress.pending)  \(Int(rate))/s"
        if rate > 0, progress.pending > 0, progress.prepared {
            text += "  ETA \(Int(Double(progress.pending) / rate) + 1) s"
        }
        return text
    }
}
