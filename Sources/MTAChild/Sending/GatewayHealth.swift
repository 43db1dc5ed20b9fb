import Gateways
import PushCore

/// How the gateway is, as far as its answers and its silence tell. Moments are those of the owner's monotonic clock.
struct GatewayHealth: Sendable {
    private(set) var detector = TroubleDetector()
    /// How fast messages may leave after the gateway's trouble; nil for as fast as they can.
    private(set) var ramp: OpeningRamp?
    /// When the last probe was sent.
    private(set) var probedAt = Duration.zero
    /// When the gateway last said something else than a limit of a single device.
    private(set) var lastAnswer: Duration?
    /// When it last took a message.
    private(set) var lastPass: Duration?
    /// When a connection was last lost.
    private var lastLoss: Duration?
    /// When one was lost with messages on it that had no answer, since the gateway last answered.
    private var lostUnanswered: Duration?
    /// Since when messages are in the gateway and none of them has had an answer.
    private var silence = AnswerSilence()
    /// Whether the gateway answers failures alone.
    private var takesInSilence = false

    /// The gateway is there.
    mutating func open(takesInSilence: Bool) { self.takesInSilence = takesInSilence }

    // MARK: Answers

    /// It has answered, whatever it said.
    mutating func answered(at moment: Duration) {
        detector.answered()
        lastAnswer = moment
        lostUnanswered = nil
        silence.answered(at: moment)
    }

    /// It has taken a message.
    mutating func passed(at moment: Duration) { lastPass = moment }

    /// It has refused a message for its own sake: what that means is told with ``failed(_:retryAfterMilliseconds:isProjectWide:at:)``.
    mutating func refused(at moment: Duration) { silence.answered(at: moment) }

    /// A connection came about, which is all that a gateway says that takes messages in silence.
    mutating func reached() { detector.answered() }

    // MARK: Failures

    mutating func failed(
        _ words: String,
        retryAfterMilliseconds: Int32? = nil,
        isProjectWide: Bool = false,
        at moment: Duration
    ) {
        detector.failed(
            words,
            retryAfterMilliseconds: retryAfterMilliseconds,
            isProjectWide: isProjectWide,
            at: moment
        )
    }

    /// A limit of a single device may be one of all.
    mutating func suspected(_ words: String) { detector.suspected(words) }

    /// The way to it has failed.
    ///
    /// - Parameter isNeeded: whether parts are held.
    mutating func connectionFailed(_ reason: String, isNeeded: Bool, at moment: Duration) {
        lastLoss = moment
        if isNeeded { detector.failed(reason, silentSince: silence.since, at: moment) }
    }

    /// What is lost so soon after a connection was lost with it.
    private static let sameLoss = Duration.milliseconds(200)

    /// A message was on a connection that was lost. The end of a connection is one failure, however many messages were on it.
    mutating func lostMessage(_ words: String, at moment: Duration) {
        guard !takesInSilence else { return }
        let isAgain = lostUnanswered.map { moment - $0 >= TroubleDetector.longestRun } ?? false
        if isAgain || lostUnanswered == nil { lostUnanswered = moment }
        guard isAgain || lastLoss.map({ moment - $0 > Self.sameLoss }) ?? true else { return }
        lastLoss = moment
        // Where all that was sent waits for its resend between two losses nothing else tells.
        detector.failed(words, isProjectWide: isAgain, at: moment)
    }

    // MARK: Trouble

    /// Notes whether it is silent.
    ///
    /// - Parameter isWaiting: whether messages are in the gateway.
    mutating func look(isWaiting: Bool, at moment: Duration) {
        silence.look(isWaiting: isWaiting && !takesInSilence, at: moment)
    }

    /// Silence counts as a failure.
    mutating func noteSilence(at moment: Duration) {
        if let since = silence.since { detector.silent(since: since, at: moment) }
    }

    /// Nothing is held that could meet a failure: those before say nothing.
    mutating func rest() {
        if !detector.isWell { detector.forget() }
    }

    /// Whether what has failed is trouble by now.
    func isTrouble(othersFollow: Bool, at moment: Duration) -> Bool {
        detector.isTrouble(at: moment, othersFollow: othersFollow, waitingSince: silence.since)
    }

    mutating func probed(at moment: Duration) { probedAt = moment }

    /// A probe of this child got through. Those that failed before are no reason to think the gateway in trouble again.
    mutating func recovered(at moment: Duration) {
        comeBack(at: moment)
        ramp = OpeningRamp(start: moment, at: moment)
    }

    /// The trouble is over, as others have found.
    mutating func comeBack(at moment: Duration) {
        detector.forget()
        silence.answered(at: moment)
    }

    // MARK: The ramp after it

    /// Sending began again so long ago, by so many children; nil if it is as ever.
    mutating func opening(_ opening: (since: Duration, sharers: Int)?, at moment: Duration) {
        guard let opening else {
            ramp = nil
            return
        }
        ramp =
            ramp?.shared(by: opening.sharers, at: moment)
            ?? OpeningRamp(start: moment - opening.since, sharers: opening.sharers, at: moment)
        if ramp?.isOver(at: moment) == true { ramp = nil }
    }

    func rampAdmits(at moment: Duration) -> Bool { ramp?.admits(at: moment) ?? true }

    mutating func countInRamp(_ rows: Int) { ramp?.count(rows) }
}
