import PushCore
import Store

/// A progress bar on standard error: one line that is rewritten on a terminal, a line now and then elsewhere.
package struct ProgressDisplay {
    /// The time over which the rate is taken: long enough to be steady, short enough to follow.
    private static let rateWindow = Duration.seconds(2)
    /// The time between two lines where nothing can be rewritten.
    private static let lineInterval = Duration.seconds(2)
    /// The width of the bar.
    private static let width = 30

    /// Whether nothing is shown.
    package let isQuiet: Bool
    private let isTerminal = StandardError.isTerminal
    private var samples: [(time: ContinuousClock.Instant, resolved: Int64)] = []
    private var lastLine: ContinuousClock.Instant?
    private var wroteBar = false

    /// A display that has shown nothing.
    package init(isQuiet: Bool = false) {
        self.isQuiet = isQuiet
    }

    /// Shows a delivery's counts as they are at `now`.
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

    /// Ends the line that was rewritten.
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

/// Follows a delivery with a progress display.
package struct DeliveryWatch: Sendable {
    /// How often the counts are read: often enough to look alive.
    private static let interval = Duration.milliseconds(200)

    /// Where the counts are read.
    package let store: Store
    package let id: Int64
    /// Whether the display is left out.
    package var isQuiet = false
    /// After so long without any change the watch gives up; `nil`: never.
    package var timeout: Duration?
    /// Called before each look; what it throws ends the watch.
    package var check: @Sendable () throws -> Void = {}

    package init(
        store: Store,
        id: Int64,
        isQuiet: Bool = false,
        timeout: Duration? = nil,
        check: @escaping @Sendable () throws -> Void = {}
    ) {
        self.store = store
        self.id = id
        self.isQuiet = isQuiet
        self.timeout = timeout
        self.check = check
    }

    /// Waits until the delivery is over, or stands still for what is wrong with it, paused or back in editing, and returns its last counts;
    /// with a timeout, also when nothing has changed for so long.
    package func untilOver(
        _ look: (DeliveryProgress) async throws -> Void = { _ in }
    ) async throws -> DeliveryProgress {
        var display = ProgressDisplay(isQuiet: isQuiet)
        var resolved: Int64 = -1
        var changed = ContinuousClock.now
        while true {
            try check()
            let progress = try await store.deliveryProgress(id)
            let now = ContinuousClock.now
            display.show(progress, at: now)
            try await look(progress)
            if progress.target - progress.pending != resolved {
                resolved = progress.target - progress.pending
                changed = now
            }
            // One that was paused for a fault of its own goes on only when somebody has put it right.
            let isHeld =
                (progress.state == .paused || progress.state == .editing) && !progress.stateReason.isEmpty
                && progress.partsClaimed == 0
            if progress.state.isFinal || isHeld || timeout.map({ now - changed > $0 }) ?? false {
                display.finish()
                return progress
            }
            try await Task.sleep(for: Self.interval)
        }
    }
}

/// Says on standard error what a command waits for: one line that is rewritten on a terminal, a line when it changes elsewhere.
package struct WaitDisplay {
    package init() {}

    /// The time between two lines where nothing can be rewritten.
    private static let lineInterval = Duration.seconds(2)

    private let isTerminal = StandardError.isTerminal
    private var last = ""
    private var lastTime: ContinuousClock.Instant?
    private var wroteLine = false

    /// Shows what is waited for now.
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

    /// Ends the line that was rewritten.
    package mutating func finish() {
        if wroteLine { StandardError.write("\n") }
        wroteLine = false
    }
}

/// A progress bar for an import: on a terminal only, on standard error.
package struct ImportBar {
    /// The width of the bar.
    private static let width = 30

    /// The size of the file in bytes.
    package let size: Int64
    private let isTerminal = StandardError.isTerminal

    /// A bar that has shown nothing.
    package init(size: Int64) {
        self.size = size
    }

    /// Shows how far the import is.
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
