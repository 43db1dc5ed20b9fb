import HTTP2

/// The reasons of outcomes that have no answer of the gateway, short enough to cost no memory of their own.
enum NoAnswerReason {
    static let cancelled = "NotSent"
    static let queueFull = "QueueFull"
    /// The binary gateway threw it away because of a message before it.
    static let discarded = "Discarded"

    static func text(_ cause: HTTP2Failure.Cause) -> String {
        switch cause {
        case .reset(.refusedStream): "REFUSED_STREAM"
        case .reset(let code): code.description
        case .goAway: "GOAWAY"
        case .connectionClosed: "ConnectionLost"
        case .timeout: "Timeout"
        case .cancelled: cancelled
        case .notSubmitted: "NotSubmitted"
        }
    }
}
