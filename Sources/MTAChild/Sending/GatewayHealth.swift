import Gateways
import PushCore

/// The gateway's health, judged by its answers and its silence. Moments are on the owner's monotonic clock.
struct GatewayHealth: Sendable {
    private(set) var detector = TroubleDetector()
    /// How fast messages may leave after the gateway's trouble; nil for no limit.
    private(set) var ramp: OpeningRamp?
    /// When the last probe was sent.
    private(set) var probedAt = Duration.zero
    /// When the gateway last gave an answer other than a limit of a single device.
    private(set) var lastAnswer: Duration?
    /// When the gateway last accepted a message.
    private(set) var lastPass: Duration?
    /// When a connection was last lost.
    private var lastLoss: Duration?
    /// When a connection was lost with unanswered messages on it, since the gateway's last answer.
    private var lostUnanswered: Duration?
    /// Since when messages have been in the gateway without any answer.
    private var silence = AnswerSilence()
    /// How long silence is not a failure; nil if it never is one.
    private var maxSilence: Duration? = TroubleDetector.maxSilence

    /// Takes over the open gateway's limit.
    ///
    /// - Parameter maxSilence: how long it may stay silent; nil if silence is never a failure.
    mutating func open(maxSilence: Duration?) { self.maxSilence = maxSilence }

    // MARK: Answers

    /// Notes an answer of any kind.
    mutating func answered(at moment: Duration) {
        detector.answered()
        lastAnswer = moment
        lostUnanswered = nil
        silence.answered(at: moment)
    }

    /// Notes an accepted message.
    mutating func passed(at moment: Duration) { lastPass = moment }

    /// Notes that it refused a message because of its own state; ``failed(_:retryAfterMilliseconds:isProjectWide:at:)``
    /// says what that means.
    mutating func refused(at moment: Duration) { silence.answered(at: moment) }

    /// Notes that it has shown that it is well by something other than an answer.
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

    /// Notes a limit of a single device, which may be a limit of all.
    mutating func suspected(_ words: String) { detector.suspected(words) }

    /// Notes that the path to it failed.
    ///
    /// - Parameter isNeeded: whether parts are held.
    mutating func connectionFailed(_ reason: String, isNeeded: Bool, at moment: Duration) {
        lastLoss = moment
        if isNeeded { detector.failed(reason, silentSince: silence.since, at: moment) }
    }

    /// Messages lost this soon after a connection were lost with it.
    private static let sameLoss = Duration.milliseconds(200)

    /// Notes a message on a lost connection. The end of a connection is one failure, however many messages were on it.
    mutating func lostMessage(_ words: String, at moment: Duration) {
        let isAgain = lostUnanswered.map { moment - $0 >= TroubleDetector.maxRun } ?? false
        if isAgain || lostUnanswered == nil { lostUnanswered = moment }
        guard isAgain || lastLoss.map({ moment - $0 > Self.sameLoss }) ?? true else { return }
        lastLoss = moment
        // If everything that was sent waits for its resend between two losses, nothing else shows the failure.
        detector.failed(words, isProjectWide: isAgain, at: moment)
    }

    // MARK: Trouble

    /// Checks whether it is silent.
    ///
    /// - Parameter isWaiting: whether messages are in the gateway.
    mutating func look(isWaiting: Bool, at moment: Duration) {
        silence.look(isWaiting: isWaiting && maxSilence != nil, at: moment)
    }

    /// Counts silence as a failure.
    mutating func noteSilence(at moment: Duration) {
        guard let since = silence.since, let maxSilence else { return }
        detector.silent(since: since, longest: maxSilence, at: moment)
    }

    /// Forgets failures: no part is held that could meet another one.
    mutating func rest() {
        if !detector.isWell { detector.forget() }
    }

    /// Whether the failures amount to trouble now.
    func isTrouble(othersFollow: Bool, at moment: Duration) -> Bool {
        detector.isTrouble(at: moment, othersFollow: othersFollow, waitingSince: silence.since)
    }

    mutating func probed(at moment: Duration) { probedAt = moment }

    /// Notes that a probe of this child got through. Earlier failures no longer count.
    mutating func recovered(at moment: Duration) {
        comeBack(at: moment)
        ramp = OpeningRamp(start: moment, at: moment)
    }

    /// Notes that the trouble is over.
    mutating func comeBack(at moment: Duration) {
        detector.forget()
        silence.answered(at: moment)
    }

    // MARK: The ramp after it

    /// Takes over when sending resumed, and how many children share the ramp; nil for no ramp.
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
