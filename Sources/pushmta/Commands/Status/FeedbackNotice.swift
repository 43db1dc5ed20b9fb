import Store

/// What an operator should know of the work that waits for a feedback worker.
struct FeedbackNotice: Sendable {
    /// Token events that have waited for so long, in seconds, wait for nobody: a worker looks each second, a supervisor each minute.
    static let oldTokenEvent = 300.0
    /// Hits that were not counted for so long, in seconds.
    static let oldHits = 300.0

    /// What is wrong and what to do.
    let text: String
    /// Whether dead tokens go on getting messages.
    let isSerious: Bool

    /// Nil if nothing is wrong.
    init?(_ backlog: FeedbackBacklog) {
        let age = backlog.oldestTokenEventSeconds ?? 0
        let isOld = age > Self.oldTokenEvent
        guard !isOld else {
            let cause =
                backlog.isWorkerActing
                ? "though a feedback worker acts: its log says why"
                : "and nobody applies them: start `pushmta feedback`"
            text = "token events have waited for \(Int(age)) s, \(cause). Until then dead tokens get messages"
            isSerious = true
            return
        }
        guard !backlog.isWorkerActing else { return nil }
        let hits = backlog.oldestHitSeconds ?? 0
        var waiting: [String] = []
        if backlog.uncountedParts > 0 || hits > Self.oldHits {
            waiting.append("statistics wait (\(backlog.uncountedParts) finished parts are not counted)")
        }
        if backlog.services > 0 {
            waiting.append(
                "nobody asks the feedback services of ios-binary gateways (\(backlog.services)) for dead tokens, which go on getting messages"
            )
        }
        guard !waiting.isEmpty else { return nil }
        waiting.append("nothing is thrown away with age")
        text = "no feedback worker acts: \(waiting.joined(separator: "; ")). Start `pushmta feedback`"
        isSerious = false
    }
}
