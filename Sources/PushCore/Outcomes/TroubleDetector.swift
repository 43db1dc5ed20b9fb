/// Finds out from the answers of a gateway that it takes nothing, and that this is its own fault and not the messages'.
///
/// A value with the clock of its owner: moments are durations since some fixed moment of a monotonic clock. What it counts are
/// the answers of one process; the state that follows is shared by all of them (`gateway_trouble`).
///
/// Trouble begins when at least ``fewest`` of the last ``window`` answers, and at least a half of them, are failures of the gateway;
/// or when ``longestRun`` has passed since the first of a run of failures, however few, without an answer that is one; or at once when the
/// gateway says so for the whole project.
public struct TroubleDetector: Sendable, Hashable {
    /// The answers that are looked at: at the smallest useful rate, some hundred a second, they are a fraction of a second.
    public static let window = 50
    /// So many failures among them are no accident…
    public static let fewest = 5
    /// …if they are one in so many or more: what a gateway refuses more often it does not want at full rate.
    public static let share = 2
    /// With fewer answers than that, so long without one that is no failure is trouble, too: a message that waits finds out sooner by
    /// probes than by its own back-off.
    public static let longestRun = Duration.seconds(1)
    /// So long without any answer, while messages wait for theirs, is trouble: the timeout of a PING, which a server that is stuck behind its
    /// HTTP/2 may well answer.
    public static let longestSilence = Duration.seconds(15)

    /// The last answers, the newest in the lowest bit; 1 for a failure.
    private var answers: UInt64 = 0
    private var count = 0
    private var runSince: Duration?
    private var run = 0
    private var isTold = false
    /// The reason of the last failure, in the gateway's or the system's words.
    public private(set) var reason = ""
    /// Until when the gateway wants nothing, as it said in the present run; nil if it did not say.
    public private(set) var notBefore: Duration?

    /// A detector that knows of no trouble.
    public init() {}

    /// Whether anything was heard of the gateway.
    public var hasAnswers: Bool { count > 0 }

    /// Whether no failure came since the last answer that was none.
    public var isWell: Bool { runSince == nil }

    /// An answer came that the gateway gave about a message, whatever it was.
    public mutating func answered() {
        note(failed: false)
        runSince = nil
        run = 0
        notBefore = nil
        isTold = false
    }

    /// The gateway, or the way to it, has failed.
    ///
    /// - Parameters:
    ///   - retryAfterMilliseconds: how long the gateway asked to wait, in milliseconds; nil if it did not.
    ///   - isProjectWide: the gateway said it of the whole project.
    ///   - silentSince: since when messages wait for an answer and none came; nil if none waits.
    public mutating func failed(
        _ reason: String,
        retryAfterMilliseconds: Int32? = nil,
        isProjectWide: Bool = false,
        silentSince: Duration? = nil,
        at moment: Duration
    ) {
        note(failed: true)
        self.reason = reason
        if runSince == nil { runSince = silentSince ?? moment }
        run += 1
        if isProjectWide { isTold = true }
        guard let retryAfterMilliseconds else { return }
        let end = moment + .milliseconds(max(0, retryAfterMilliseconds))
        notBefore = max(notBefore ?? end, end)
    }

    /// Messages wait for an answer, and none came since some moment.
    public mutating func silent(since: Duration, at moment: Duration) {
        guard moment - since >= Self.longestSilence, !isTrouble(at: moment) else { return }
        failed(
            "no answer to any message for \(Self.longestSilence.components.seconds) s",
            silentSince: since,
            at: moment
        )
    }

    /// The gateway said of one more device that it gets too much: if it says so of all, it means the project.
    public mutating func suspected(_ reason: String) {
        note(failed: true)
        self.reason = reason
    }

    /// Nothing waits for the gateway: how it was says nothing about how it will be.
    public mutating func forget() { self = TroubleDetector() }

    /// Whether this is trouble.
    ///
    /// - Parameters:
    ///   - othersFollow: messages wait to be sent, and are not yet: their answers say more than the time since one failure, in which the
    ///     process may have stood still.
    ///   - waitingSince: since when messages wait for an answer; nil if none does. What was sent after a failure has its time to be answered.
    public func isTrouble(at moment: Duration, othersFollow: Bool = false, waitingSince: Duration? = nil) -> Bool {
        if isCertain { return true }
        guard let runSince, run > 1 || !othersFollow else { return false }
        return moment - (run > 1 ? runSince : max(runSince, waitingSince ?? runSince)) >= Self.longestRun
    }

    /// Whether this is trouble by the answers alone, whatever comes next: many of the last ones, or the gateway's word.
    public var isCertain: Bool { isTold && runSince != nil || isCrowd }

    private var isCrowd: Bool {
        let failures = (answers & ((1 << UInt64(Self.window)) - 1)).nonzeroBitCount
        return failures >= Self.fewest && failures * Self.share >= count
    }

    private mutating func note(failed: Bool) {
        answers = answers << 1 | (failed ? 1 : 0)
        count = min(count + 1, Self.window)
    }
}

/// Since when messages wait for an answer and none has come, as a process sees it that may have stood still itself.
public struct AnswerSilence: Sendable, Hashable {
    /// The moment since which nothing was heard, on the owner's monotonic clock; nil while no message waits.
    public private(set) var since: Duration?
    private var lastLook: Duration?

    /// The owner looks every second; after a longer pause it was the owner that stood still, and heard nothing because it did not listen.
    private static let standstill = Duration.seconds(2)

    public init() {}

    /// Takes note of whether messages wait; to be called at least once a second.
    public mutating func look(isWaiting: Bool, at moment: Duration) {
        defer { lastLook = moment }
        guard isWaiting else {
            since = nil
            return
        }
        let pause = lastLook.map { moment - $0 } ?? .zero
        since = since.map { pause > Self.standstill ? $0 + pause : $0 } ?? moment
    }

    public mutating func answered(at moment: Duration) {
        if since != nil { since = moment }
    }
}

/// When the next probe of a gateway in trouble is sent.
public enum ProbePace {
    /// No two probes of an application on an account follow one another faster: Apple takes rapid reconnects for an attack.
    public static let shortest = Duration.seconds(1)
    /// Nobody waits longer for a gateway that is back.
    public static let longest = Duration.seconds(5)

    /// The pause before the next probe: a random one between ``shortest`` and ``longest`` (full jitter, so that hosts and applications
    /// do not probe in step), after what the gateway asked for.
    public static func pause(
        notBefore: Duration = .zero,
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let random = shortest + (longest - shortest) * Double.random(in: 0...1, using: &generator)
        return notBefore <= shortest ? random : notBefore + (random - shortest)
    }
}

/// How fast messages may leave after the first success: 1,000 a second, doubling each second, until nothing is held back.
///
/// A gateway that has just come back meets everybody's backlog at once; and if the first success was luck, little is refused. Moments are
/// those of the owner's monotonic clock. The rate is shared by all processes that send for the application on the account.
public struct OpeningRamp: Sendable, Hashable {
    /// Messages a second in the first second, of all processes together.
    public static let firstRate = 1_000.0
    /// After so long the ramp is over: the rate is a million a second then, more than any gateway takes.
    public static let length = Duration.seconds(10)

    private let start: Duration
    private let sharers: Int
    private var sent = 0

    /// - Parameters:
    ///   - start: the moment of the first success.
    ///   - sharers: how many processes send, at least 1.
    ///   - moment: now; what could have left before is not made up for.
    public init(start: Duration, sharers: Int = 1, at moment: Duration) {
        self.start = start
        self.sharers = max(1, sharers)
        sent = Int(Self.total(after: moment - start) / Double(self.sharers))
    }

    /// Whether everything may leave.
    public func isOver(at moment: Duration) -> Bool { moment - start >= Self.length }

    /// Whether messages may leave now; what one mark is for leaves as a whole, and the next wait for it.
    public func admits(at moment: Duration) -> Bool {
        isOver(at: moment) || Double(sent) <= Self.total(after: moment - start) / Double(sharers)
    }

    /// Counts messages that leave.
    public mutating func count(_ messages: Int) { sent += messages }

    /// The same ramp among another number of processes.
    public func shared(by sharers: Int, at moment: Duration) -> OpeningRamp {
        self.sharers == max(1, sharers) ? self : OpeningRamp(start: start, sharers: sharers, at: moment)
    }

    /// The messages that may have left so long after the start: the integral of a rate that doubles each second.
    private static func total(after time: Duration) -> Double {
        let seconds = max(0, min(time, length) / .seconds(1))
        var (whole, total) = (0.0, 0.0)
        while whole + 1 <= seconds {
            total += firstRate * Self.power(whole)
            whole += 1
        }
        return total + firstRate * Self.power(whole) * (seconds - whole)
    }

    private static func power(_ exponent: Double) -> Double { Double(1 << Int(exponent)) }
}
