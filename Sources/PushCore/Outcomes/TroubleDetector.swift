/// Detects from a gateway's answers that it accepts no messages because of its own fault.
///
/// It is a value on its owner's clock: moments are durations since a fixed moment of a monotonic clock. It counts the
/// answers of one process; all processes share the resulting state (`gateway_trouble`).
///
/// Trouble begins in one of three cases:
///
/// - At least ``fewest`` of the last ``window`` answers, and at least half of them, are failures of the gateway.
/// - There has been no other answer for ``maxRun`` since the first of a run of failures, however few.
/// - The gateway reports a failure for the whole project.
package struct TroubleDetector: Sendable, Hashable {
    /// The number of answers that are considered. At the lowest useful rate, about a hundred a second, they cover a
    /// fraction of a second.
    package static let window = 50
    /// The minimum number of failures that is no coincidence…
    package static let fewest = 5
    /// …if at least one answer in this many is a failure. A gateway that refuses more must not get messages at full
    /// rate.
    package static let share = 2
    /// With fewer answers, this time with failures only is trouble too. Probes notice the recovery sooner than the
    /// back-off of a waiting message.
    package static let maxRun = Duration.seconds(1)
    /// This time without any answer, while messages wait for answers, is trouble. It equals the timeout of a PING,
    /// which a server that is stuck behind its HTTP/2 layer may still answer.
    package static let maxSilence = Duration.seconds(15)

    /// The last answers, the newest in the lowest bit; 1 for a failure.
    private var answers: UInt64 = 0
    private var count = 0
    private var runSince: Duration?
    private var run = 0
    private var isTold = false
    /// The reason for the last failure, in the gateway's or the system's words.
    package private(set) var reason = ""
    /// The moment until which the gateway asked to wait in the current run of failures; nil if it did not.
    package private(set) var notBefore: Duration?

    /// Makes a detector without trouble.
    package init() {}

    /// Whether the gateway has answered or failed at all.
    package var hasAnswers: Bool { count > 0 }

    /// Whether there has been no failure since the last good answer.
    package var isWell: Bool { runSince == nil }

    /// Notes that the gateway answered a message, whatever the answer was.
    package mutating func answered() {
        note(failed: false)
        runSince = nil
        run = 0
        notBefore = nil
        isTold = false
    }

    /// Notes that the gateway, or the network on the way to it, has failed.
    ///
    /// - Parameters:
    ///   - retryAfterMilliseconds: how long the gateway asked to wait, in milliseconds; nil if it did not.
    ///   - isProjectWide: whether the gateway reported it for the whole project.
    ///   - silentSince: the moment since which messages wait and no answer came; nil if none waits.
    package mutating func failed(
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

    /// Notes that messages wait for answers and none came since a moment.
    ///
    /// - Parameter longest: the longest silence that says nothing about the gateway.
    package mutating func silent(since: Duration, longest: Duration = Self.maxSilence, at moment: Duration) {
        guard moment - since >= longest, !isTrouble(at: moment) else { return }
        failed(
            "no answer to any message for \(longest.components.seconds) s",
            silentSince: since,
            at: moment
        )
    }

    /// Notes that the gateway reported too many messages for one more device. If it reports this for many devices, it
    /// means the whole project.
    package mutating func suspected(_ reason: String) {
        note(failed: true)
        self.reason = reason
    }

    /// Resets the detector when no message waits for the gateway: its past state does not predict its future one.
    package mutating func forget() { self = TroubleDetector() }

    /// Whether the gateway is in trouble.
    ///
    /// - Parameters:
    ///   - othersFollow: whether messages wait to be sent. After a single failure their answers tell more than the
    ///     elapsed time, during which the process may have been suspended.
    ///   - waitingSince: the moment since which messages wait for an answer; nil if none waits. Messages sent after a
    ///     failure get time to be answered.
    package func isTrouble(at moment: Duration, othersFollow: Bool = false, waitingSince: Duration? = nil) -> Bool {
        if isCertain { return true }
        guard let runSince, run > 1 || !othersFollow else { return false }
        return moment - (run > 1 ? runSince : max(runSince, waitingSince ?? runSince)) >= Self.maxRun
    }

    /// Whether the answers alone prove trouble, whatever comes next: many failures among the last answers, or a report
    /// for the whole project.
    package var isCertain: Bool { isTold && runSince != nil || isCrowd }

    private var isCrowd: Bool {
        let failures = (answers & ((1 << UInt64(Self.window)) - 1)).nonzeroBitCount
        return failures >= Self.fewest && failures * Self.share >= count
    }

    private mutating func note(failed: Bool) {
        answers = answers << 1 | (failed ? 1 : 0)
        count = min(count + 1, Self.window)
    }
}
