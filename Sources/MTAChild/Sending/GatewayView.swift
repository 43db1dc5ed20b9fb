import Gateways
import PushCore

/// How the gateway is, as far as its answers and its silence tell.
struct GatewayView: Sendable {
    var detector = TroubleDetector()
    /// How fast messages may leave after the gateway's trouble; nil for as fast as they can.
    var ramp: OpeningRamp?
    /// When the last probe was sent.
    var probedAt = Duration.zero
    /// Limits of single devices that may be one of all.
    var soft: [DispatchState.HeldSoft] = []
    /// When the gateway last said something else than that; on the owner's monotonic clock.
    var lastAnswer: Duration?
    /// When it last took a message.
    var lastPass: Duration?
    /// When a connection was last lost.
    var lastLoss: Duration?
    /// When one was lost with messages on it that had no answer, since the gateway last answered.
    var lostUnanswered: Duration?
    /// Since when messages are in the gateway and none of them has had an answer.
    var silence = AnswerSilence()
    /// Whether the gateway answers failures alone.
    var takesInSilence = false
    /// Answers with a reason that nobody knows, by delivery, since one of its messages was accepted.
    var unknownReasons: [Int64: Int] = [:]
    /// Wrong credentials that are stored with the gateway, in its words, of which this child has told.
    var wrongCredentials: Set<String> = []
    /// Refusals of the read at hand for the quota of the whole project.
    var quotaRefusals: [Outcome] = []
    /// The one of which it has not told yet.
    var untoldCredential: String?

    /// It has answered, whatever it said.
    mutating func answered(at moment: Duration) {
        detector.answered()
        lastAnswer = moment
        lostUnanswered = nil
        silence.answered(at: moment)
    }
}
