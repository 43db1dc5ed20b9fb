/// How long messages have waited without any answer, corrected for times in which the process itself was suspended.
package struct AnswerSilence: Sendable, Hashable {
    /// The moment since which there was no answer, on the owner's monotonic clock; nil while no message waits.
    package private(set) var since: Duration?
    private var lastLook: Duration?

    /// The owner looks every second. After a longer pause the owner itself was suspended and could not receive answers.
    private static let standstill = Duration.seconds(2)

    package init() {}

    /// Notes whether messages wait. Call it at least once a second.
    package mutating func look(isWaiting: Bool, at moment: Duration) {
        defer { lastLook = moment }
        guard isWaiting else {
            since = nil
            return
        }
        let pause = lastLook.map { moment - $0 } ?? .zero
        since = since.map { pause > Self.standstill ? $0 + pause : $0 } ?? moment
    }

    package mutating func answered(at moment: Duration) {
        if since != nil { since = moment }
    }
}
