/// Answers that doubt a push token, until it is known whether the token or the application is at fault.
struct TokenGuards: Sendable {
    var application = MassFailureGuard()
    /// The same for each delivery whose push type has a topic of its own.
    var topics: [Int64: TopicGuard] = [:]
}
