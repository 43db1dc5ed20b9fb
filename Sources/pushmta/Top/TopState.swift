import Administration
import Store

/// What `pushmta top` shows, and what its keys do.
///
/// A value: it takes in keys, ticks, sizes and figures with their times, and returns what to do.
struct TopState: Sendable {
    enum Pane: Int, Sendable, CaseIterable {
        case overview, alarms, hosts, children, applications, deliveries

        var name: String { self == .overview ? "all" : "\(self)" }
    }

    /// The order of rows in each table.
    enum Order: Int, Sendable, CaseIterable {
        /// Broken first, then waiting, sending, and last idle.
        case urgent
        case rate, waiting, failed, name
    }

    enum Event: Sendable {
        case key(TerminalKey)
        /// An interval has passed.
        case tick
        case resize(TerminalSize)
        /// The last request was read.
        case figures([TopReading])
        /// The last request could not be read, for this reason.
        case failed(String)
        /// The database is unreachable, for this reason; the request completes when it is reachable again.
        case away(String)
    }

    /// What to do.
    enum Action: Sendable, Hashable {
        case read([TopPart])
        case draw
        case end
    }

    /// Why nothing new is shown.
    struct Trouble: Sendable {
        let words: String
        let since: ContinuousClock.Instant
    }

    /// A filter is a name or a part of one.
    private static let maxFilterLength = 60
    /// A healthy database responds much sooner, or reports an error.
    private static let silence = Duration.seconds(5)

    var size: TerminalSize
    /// The interval between two readings.
    let interval: Duration
    private(set) var pane = Pane.overview
    private(set) var order = Order.urgent
    /// Whether the order is reversed.
    private(set) var isReversed = false
    /// Only rows that contain this text are shown; "" for all.
    private(set) var filter = ""
    /// Whether keys go to the filter.
    private(set) var isTyping = false
    /// Whether the figures are frozen.
    private(set) var isPaused = false
    /// Whether the help is shown.
    private(set) var showsHelp = false
    /// The number of rows above the visible ones.
    private(set) var scroll = 0
    /// The last figures.
    private(set) var figures = TopFigures()
    private(set) var history = TopHistory()
    /// What is wrong with the database, as far as this process can tell.
    private(set) var trouble: Trouble?
    /// When the newest figures were read, by the database's clock.
    private(set) var time: DatabaseTime?
    private var pace: TopPace

    init(size: TerminalSize, interval: Duration) {
        self.size = size
        self.interval = interval
        pace = TopPace(interval: interval)
    }

    /// The age of a part's figures at a moment, if they are older than their interval explains.
    func age(of part: TopPart, at now: ContinuousClock.Instant) -> Duration? {
        pace.readAt[part].map { now - $0 }.flatMap { $0 > max(interval * 3, .seconds(3)) ? $0 : nil }
    }

    /// Handles an event; returns what to do.
    mutating func handle(_ event: Event, at now: ContinuousClock.Instant) -> [Action] {
        switch event {
        case .key(let key): return handle(key, at: now)
        case .tick:
            if let asked = pace.askedAt, now - asked > Self.silence, trouble == nil {
                trouble = Trouble(words: "it does not respond", since: asked)
            }
            return look(at: now)
        case .resize(let size):
            self.size = size
            keepScroll()
            return [.draw]
        case .figures(let readings):
            pace.answered(readings, at: now)
            trouble = nil
            if !isPaused { add(readings) }
            return [.draw]
        case .failed(let words):
            pace.failed(at: now)
            trouble = Trouble(words: words, since: trouble?.since ?? now)
            return [.draw]
        case .away(let words):
            trouble = Trouble(words: words, since: trouble?.since ?? now)
            return [.draw]
        }
    }

    private mutating func look(at now: ContinuousClock.Instant) -> [Action] {
        let due = isPaused ? [] : pace.ask(at: now)
        return due.isEmpty ? [.draw] : [.read(due), .draw]
    }

    private mutating func add(_ readings: [TopReading]) {
        for reading in readings {
            switch reading.content {
            case .deliveries(let deliveries, _): history.add(deliveries, after: figures.deliveries)
            case .processes(let hosts, let children): history.add(hosts, children)
            case .queues, .alarms: break
            }
            figures.add(reading)
            time = reading.time
        }
        keepScroll()
    }

    private mutating func handle(_ key: TerminalKey, at now: ContinuousClock.Instant) -> [Action] {
        if key == .control("c") { return [.end] }
        if isTyping {
            type(key)
            return [.draw]
        }
        switch key {
        case .character("q"): return [.end]
        case .character("p"), .character(" "):
            isPaused.toggle()
            if !isPaused { pace.hurry() }
            return look(at: now)
        case .character("?"), .character("h"): showsHelp.toggle()
        case .character("/"): isTyping = true
        case .character("s"): order = Self.next(order, by: 1)
        case .character("S"): order = Self.next(order, by: -1)
        case .character("r"): isReversed.toggle()
        case .escape: (showsHelp, filter) = (false, showsHelp ? filter : "")
        case .tab, .right: show(Self.next(pane, by: 1))
        case .backTab, .left: show(Self.next(pane, by: -1))
        case .character(let digit):
            if let pane = digit.wholeNumberValue.flatMap(Pane.init(rawValue:)) { show(pane) }
            move(digit)
        default: move(key)
        }
        keepScroll()
        return [.draw]
    }

    private mutating func type(_ key: TerminalKey) {
        switch key {
        case .character(let character): if filter.count < Self.maxFilterLength { filter.append(character) }
        case .backspace: if !filter.isEmpty { filter.removeLast() }
        case .enter: isTyping = false
        case .escape: (isTyping, filter) = (false, "")
        default: break
        }
        scroll = 0
    }

    /// Letters for terminals without arrow keys.
    private mutating func move(_ letter: Character) {
        switch letter {
        case "j": move(.down)
        case "k": move(.up)
        case "g": move(.home)
        case "G": move(.end)
        default: break
        }
    }

    private mutating func move(_ key: TerminalKey) {
        switch key {
        case .up: scroll -= 1
        case .down: scroll += 1
        case .pageUp: scroll -= size.lines / 2
        case .pageDown: scroll += size.lines / 2
        case .home: scroll = 0
        case .end: scroll = .max
        default: break
        }
    }

    private mutating func show(_ pane: Pane) {
        self.pane = pane
        (scroll, showsHelp) = (0, false)
    }

    /// There is nothing below the last row.
    private mutating func keepScroll() {
        scroll = scroll <= 0 ? 0 : min(scroll, TopFrame(self).maxScroll)
    }

    private static func next<Choice: CaseIterable & Equatable>(_ choice: Choice, by step: Int) -> Choice
    where Choice.AllCases == [Choice] {
        let all = Choice.allCases
        guard let place = all.firstIndex(of: choice) else { return choice }
        return all[(place + step + all.count) % all.count]
    }
}

/// How often each part is read: at every interval. All parts together keep the database busy for at most a hundredth
/// of one processor's time; if they would take more, they are read less often.
struct TopPace: Sendable {
    /// A hundredth, shared by the parts.
    private static let costFactor = 100 * TopPart.allCases.count
    /// The lowest of the last costs counts: on a busy machine, most of the time that a read takes is due to others.
    private static let keptCosts = 3
    /// A reading may come slightly early: ticks are not exact.
    private static let earliness = 4

    private let interval: Duration
    private var costs: [TopPart: [Duration]] = [:]
    private var dueAt: [TopPart: ContinuousClock.Instant] = [:]
    /// When each part was last read.
    private(set) var readAt: [TopPart: ContinuousClock.Instant] = [:]
    /// Since when a read is under way; nil if none is.
    private(set) var askedAt: ContinuousClock.Instant?

    init(interval: Duration) {
        self.interval = interval
    }

    /// The parts to read now; none while a read is under way.
    mutating func ask(at now: ContinuousClock.Instant) -> [TopPart] {
        guard askedAt == nil else { return [] }
        let due = TopPart.allCases.filter { part in dueAt[part].map { $0 <= now + interval / Self.earliness } ?? true }
        if !due.isEmpty { askedAt = now }
        return due
    }

    mutating func answered(_ readings: [TopReading], at now: ContinuousClock.Instant) {
        let begin = askedAt ?? now
        askedAt = nil
        for reading in readings {
            readAt[reading.part] = now
            let known = (costs[reading.part] ?? []).suffix(Self.keptCosts - 1) + [reading.cost]
            costs[reading.part] = Array(known)
            dueAt[reading.part] = begin + max(interval, (known.min() ?? .zero) * Self.costFactor)
        }
    }

    /// The read failed: try again after an interval.
    mutating func failed(at now: ContinuousClock.Instant) {
        askedAt = nil
    }

    /// Makes everything due.
    mutating func hurry() {
        dueAt = [:]
    }
}
