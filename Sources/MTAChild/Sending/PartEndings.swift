import Store

/// Parts that end before all of their messages were sent.
struct PartEndings: Sendable {
    /// Parts that go back and that the database may not have yet: what is known of their messages stands in the journal only.
    var releasing: Set<PartToken> = []
    /// When the first of the held deliveries or parts expires, in milliseconds on the database's clock.
    var nextExpiry = Int64.max
    /// Whether a part may have expired that is not at its end.
    var hasExpired = false
    /// Whether a part goes back although its delivery goes on.
    var hasRefused = false
    /// Whether a part goes back because a limit holds it and this child leaves.
    var hasLeft = false
    /// Deliveries whose messages were asked back from the gateway a second time.
    var askedAgain: Set<Int64> = []
}
