import PushCore

/// What a gateway does wrong, as a value. Everything is off at first and costs nothing then.
public struct FaultPlan: Sendable, Equatable {
    /// The seed of the dice; a random one when nil.
    public var seed: UInt64?
    /// The time before an answer leaves; at once when nil.
    public var latency: LatencyDistribution?
    /// Shares of the pushes that would have been accepted and are rejected instead.
    public var errors: [ErrorRate] = []
    /// The gateway is out: what it does to every request or connection, or to a share of them. APNs over HTTP/2 and FCM HTTP v1 only.
    public var outage: OutageFault?
    /// APNs binary: error packets at a regular distance.
    public var errorPackets: ErrorPacketFault?
    /// APNs binary: the connection ends at once behind an error packet, so that what still comes is answered with a TCP reset.
    public var closesAtOnce = false
    /// A GOAWAY on every connection; a shutdown (status 10) of the binary gateway.
    public var goAway: GoAwayFault?
    /// Messages that the project may send in a minute, which begins with a message and not with the clock's (Google fills its
    /// bucket of tokens each minute); what is more is answered 429. FCM HTTP v1 only.
    public var quotaPerMinute: Int?
    /// The share of streams that is refused (RST_STREAM with REFUSED_STREAM) before anything is looked at.
    public var refusedRate = 0.0
    /// The stream limit, announced to open connections at once; overrides the gateway's own.
    public var maxConcurrentStreams: Int?
    /// The share of acceptable pushes that is never answered.
    public var neverAnsweredRate = 0.0
    /// From the moment the plan is set nothing is answered for that many seconds, then everything.
    public var stallSeconds: Double?
    /// Nothing is answered until another plan is set.
    public var stallsUntilCleared = false
    /// Connections are not even read from until another plan is set: no answers, no PING ACK, as behind a dead middlebox.
    public var freezes = false
    /// Each connection is dropped, without a word, when that many streams have arrived on it.
    public var resetAfterStreams: Int?
    /// Of the pushes that are never answered or cut off by a reset: the share that counts as accepted.
    public var unansweredAcceptedShare = 1.0
    /// APNs: the stream limit falls to 1 after a rejected push and returns with the next accepted one, as seen on the wire.
    public var limitDropsAfterRejection = false

    public init() {}

    /// True when requests can be answered at once and by the rules alone.
    var isQuiet: Bool {
        latency == nil && errors.isEmpty && outage == nil && goAway == nil && refusedRate == 0 && neverAnsweredRate == 0
            && quotaPerMinute == nil && stallSeconds == nil && !stallsUntilCleared && resetAfterStreams == nil
            && errorPackets == nil
    }

    /// What is wrong with the plan for that gateway; nil when it makes sense.
    func problem(for gateway: SimulatedGateway) -> String? {
        let shares = [refusedRate, neverAnsweredRate, unansweredAcceptedShare] + errors.map(\.rate)
        if let bad = shares.first(where: { !(0...1).contains($0) }) { return "\(bad) is no share from 0 to 1" }
        if errors.reduce(0, { $0 + $1.rate }) > 1 { return "the rates of the errors add up to more than 1" }
        if let error = errors.first(where: { AnswerCatalog.of(gateway).code(ofReason: $0.reason) == nil }) {
            let known = AnswerCatalog.of(gateway).rejections.joined(separator: ", ")
            return "\(gateway.rawValue) never answers \"\(error.reason)\"; it answers \(known)"
        }
        if let problem = outage?.problem(for: gateway) { return problem }
        if let quotaPerMinute, quotaPerMinute < 1 || gateway != .fcm {
            return "quota_per_minute is 1 or more, and only FCM HTTP v1 has one"
        }
        if let problem = latency?.problem { return "latency: \(problem)" }
        if let errorPackets, errorPackets.every < 1 || BinaryStatus(code: errorPackets.status) == nil {
            let known = BinaryStatus.allCases.map { String($0.code) }.joined(separator: ", ")
            return "error_packets needs \"every\" of 1 or more and one of these statuses: \(known)"
        }
        if let goAway, goAway.afterStreams < 0 || goAway.unprocessed < 0 {
            return "a GOAWAY's counts must not be negative"
        }
        if let resetAfterStreams, resetAfterStreams < 1 { return "reset_after_streams must be 1 or more" }
        if let maxConcurrentStreams, !(0...Int(Int32.max)).contains(maxConcurrentStreams) {
            return "max_concurrent_streams must be 0 to 2147483647"
        }
        if let stallSeconds, !(stallSeconds > 0 && stallSeconds <= 86_400) {
            return "stall_seconds must be above 0 and at most a day"
        }
        return nil
    }
}

extension FaultPlan: Codable {
    enum Key: String, CodingKey, CaseIterable {
        case seed, latency, errors, outage
        case errorPackets = "error_packets"
        case closesAtOnce = "closes_at_once"
        case goAway = "goaway"
        case refusedRate = "refused_rate"
        case quotaPerMinute = "quota_per_minute"
        case maxConcurrentStreams = "max_concurrent_streams"
        case neverAnsweredRate = "never_answered_rate"
        case stallSeconds = "stall_seconds"
        case stallsUntilCleared = "stall"
        case freezes = "freeze"
        case resetAfterStreams = "reset_after_streams"
        case unansweredAcceptedShare = "unanswered_accepted_share"
        case limitDropsAfterRejection = "limit_drops_after_rejection"
    }

    /// Reads a JSON object; a key that is not there leaves that fault off, an unknown one is an error.
    public init(from decoder: any Decoder) throws {
        // "gateway" says whose plan it is and is read by the control port.
        try StrictKeys.check(decoder, known: Key.allCases.map(\.rawValue) + ["gateway"])
        let values = try decoder.container(keyedBy: Key.self)
        seed = try values.decodeIfPresent(UInt64.self, forKey: .seed)
        latency = try values.decodeIfPresent(LatencyDistribution.self, forKey: .latency)
        errors = try values.decodeIfPresent([ErrorRate].self, forKey: .errors) ?? []
        outage = try values.decodeIfPresent(OutageFault.self, forKey: .outage)
        errorPackets = try values.decodeIfPresent(ErrorPacketFault.self, forKey: .errorPackets)
        closesAtOnce = try values.decodeIfPresent(Bool.self, forKey: .closesAtOnce) ?? false
        goAway = try values.decodeIfPresent(GoAwayFault.self, forKey: .goAway)
        quotaPerMinute = try values.decodeIfPresent(Int.self, forKey: .quotaPerMinute)
        refusedRate = try values.decodeIfPresent(Double.self, forKey: .refusedRate) ?? 0
        maxConcurrentStreams = try values.decodeIfPresent(Int.self, forKey: .maxConcurrentStreams)
        neverAnsweredRate = try values.decodeIfPresent(Double.self, forKey: .neverAnsweredRate) ?? 0
        stallSeconds = try values.decodeIfPresent(Double.self, forKey: .stallSeconds)
        stallsUntilCleared = try values.decodeIfPresent(Bool.self, forKey: .stallsUntilCleared) ?? false
        freezes = try values.decodeIfPresent(Bool.self, forKey: .freezes) ?? false
        resetAfterStreams = try values.decodeIfPresent(Int.self, forKey: .resetAfterStreams)
        unansweredAcceptedShare = try values.decodeIfPresent(Double.self, forKey: .unansweredAcceptedShare) ?? 1
        limitDropsAfterRejection = try values.decodeIfPresent(Bool.self, forKey: .limitDropsAfterRejection) ?? false
    }

    /// Writes the form that `init(from:)` reads.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encodeIfPresent(seed, forKey: .seed)
        try values.encodeIfPresent(latency, forKey: .latency)
        try values.encode(errors, forKey: .errors)
        try values.encodeIfPresent(outage, forKey: .outage)
        try values.encodeIfPresent(errorPackets, forKey: .errorPackets)
        try values.encode(closesAtOnce, forKey: .closesAtOnce)
        try values.encodeIfPresent(goAway, forKey: .goAway)
        try values.encode(refusedRate, forKey: .refusedRate)
        try values.encodeIfPresent(quotaPerMinute, forKey: .quotaPerMinute)
        try values.encodeIfPresent(maxConcurrentStreams, forKey: .maxConcurrentStreams)
        try values.encode(neverAnsweredRate, forKey: .neverAnsweredRate)
        try values.encodeIfPresent(stallSeconds, forKey: .stallSeconds)
        try values.encode(stallsUntilCleared, forKey: .stallsUntilCleared)
        try values.encode(freezes, forKey: .freezes)
        try values.encodeIfPresent(resetAfterStreams, forKey: .resetAfterStreams)
        try values.encode(unansweredAcceptedShare, forKey: .unansweredAcceptedShare)
        try values.encode(limitDropsAfterRejection, forKey: .limitDropsAfterRejection)
    }

    /// Says in plain words what was wrong with a plan's JSON text.
    public static func explain(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): "\"\(key.stringValue)\" is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "\"\(context.codingPath.map(\.stringValue).joined(separator: "."))\": \(context.debugDescription)"
        case .dataCorrupted(let context): context.debugDescription
        @unknown default: "\(error)"
        }
    }
}

extension FaultPlan {
    /// Reads a plan as the control port and the command line take it.
    ///
    /// - Throws: `DecodingError` for what is no plan.
    public init(json: some Collection<UInt8>) throws {
        self = try JSONBody.decode(FaultPlan.self, from: json)
    }
}

/// Refuses keys that nobody reads, so that a misspelt fault does not go unnoticed.
enum StrictKeys {
    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Throws when the object has a key that is not among the known ones.
    static func check(_ decoder: any Decoder, known: [String]) throws {
        let present = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
        guard let stranger = present.sorted().first(where: { !known.contains($0) }) else { return }
        throw DecodingError.dataCorrupted(
            .init(
                codingPath: decoder.codingPath,
                debugDescription: "unknown key \"\(stranger)\"; known are \(known.joined(separator: ", "))"
            )
        )
    }
}
