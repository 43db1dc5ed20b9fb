/// What a gateway did with one message.
struct GatewayTally: Sendable, Equatable {
    /// How often it accepted it.
    var accepted = 0
    /// How often it gave another answer, or none.
    var others = 0
    /// When it saw it first and last, seconds since 1970.
    var first = 0.0
    var last = 0.0

    /// Nothing was seen.
    init() {}

    /// Counts a push.
    mutating func add(_ line: GatewayRecordLine) {
        if accepted + others == 0 { first = line.time }
        last = line.time
        if line.isAccepted { accepted += 1 } else { others += 1 }
    }
}
