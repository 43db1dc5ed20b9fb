import HTTP2

/// The reasons of outcomes that have no answer of the gateway, short enough to cost no memory of their own.
enum NoAnswerReason {
    static let cancelled = "NotSent"
    static let queueFull = "QueueFull"
    /// The binary gateway threw it away because of a message before it.
    static let discarded = "Discarded"

    /// The connection was lost before the message was written.
    static let notWritten = "NotWritten"
    /// An answer that looks like success and is none of the gateway's.
    static let malformed = "MalformedAnswer"

    static func text(_ cause: HTTP2Failure.Cause, isWritten: Bool) -> String {
        switch cause {
        case .reset(.refusedStream): "REFUSED_STREAM"
        case .reset(let code): code.description
        case .goAway: "GOAWAY"
        case .connectionClosed: isWritten ? "ConnectionLost" : notWritten
        case .timeout: AnswerTable.timeout
        case .cancelled: cancelled
        case .notSubmitted: "NotSubmitted"
        }
    }
}
