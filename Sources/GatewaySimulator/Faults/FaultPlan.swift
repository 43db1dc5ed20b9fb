import PushCore

/// A gateway's faults, as a value. By default all are off and cost nothing.
package struct FaultPlan: Sendable, Equatable {
    /// The seed for random choices; nil for a random seed.
    package var seed: UInt64?
    /// The latency of answers; nil for none.
    package var latency: LatencyDistribution?
    /// The shares of otherwise acceptable pushes that are rejected.
    package var errors: [ErrorRate] = []
    /// An outage: what the gateway does to every request or connection, or to a share of them. Only APNs over HTTP/2
    /// and FCM HTTP v1 have one.
    package var outage: OutageFault?
    /// APNs binary: error packets at regular intervals.
    package var errorPackets: ErrorPacketFault?
    /// APNs binary: the connection is closed at once after an error packet, so that later data is answered with a TCP
    /// reset.
    package var closesAtOnce = false
    /// A GOAWAY on every connection; a shutdown (status 10) of the binary gateway.
    package var goAway: GoAwayFault?
    /// The project's quota in messages per minute; any above it get a 429. A minute begins with a message, not with the
    /// clock's (Google refills its token bucket each minute). FCM HTTP v1 only.
    package var quotaPerMinute: Int?
    /// The share of streams that are refused (RST_STREAM with REFUSED_STREAM) before any check.
    package var refusedRate = 0.0
    /// The stream limit, which overrides the gateway's own. It is announced to open connections at once.
    package var maxConcurrentStreams: Int?
    /// The share of acceptable pushes that are never answered.
    package var neverAnsweredRate = 0.0
    /// A stall: for this many seconds after the plan is set, nothing is answered; then everything.
    package var stallSeconds: Double?
    /// Nothing is answered until another plan is set.
    package var stallsUntilCleared = false
    /// Connections are not read until another plan is set: there are no answers and no PING ACKs, as behind a dead
    /// middlebox.
    package var freezes = false
    /// Each connection is dropped, without any protocol message, after this many streams.
    package var resetAfterStreams: Int?
    /// The share of the pushes left unanswered or cut off by a reset that counts as accepted.
    package var unansweredAcceptedShare = 1.0
    /// APNs: the stream limit drops to 1 after a rejected push and is restored by the next accepted one, as observed.
    package var limitDropsAfterRejection = false

    package init() {}

    /// Whether requests are answered at once and only by the rules.
    var isQuiet: Bool {
        latency == nil && errors.isEmpty && outage == nil && goAway == nil && refusedRate == 0 && neverAnsweredRate == 0
            && quotaPerMinute == nil && stallSeconds == nil && !stallsUntilCleared && resetAfterStreams == nil
            && errorPackets == nil
    }

    /// What is wrong with the plan for this gateway; nil if it is valid.
    func problem(for gateway: SimulatedGateway) -> String? {
        let shares = [refusedRate, neverAnsweredRate, unansweredAcceptedShare] + errors.map(\.rate)
        if let bad = shares.first(where: { !(0...1).contains($0) }) { return "\(bad) is not a share from 0 to 1" }
        if errors.reduce(0, { $0 + $1.rate }) > 1 { return "the rates of the errors add up to more than 1" }
        if let error = errors.first(where: { AnswerCatalog.of(gateway).code(ofReason: $0.reason) == nil }) {
            let known = AnswerCatalog.of(gateway).rejections.joined(separator: ", ")
            return "\(gateway.rawValue) never answers \"\(error.reason)\"; it answers \(known)"
        }
        if let problem = outage?.problem(for: gateway) { return problem }
        if let quotaPerMinute, quotaPerMinute < 1 || gateway != .fcm {
            return "quota_per_minute must be 1 or more, and only FCM HTTP v1 has it"
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
            return "max_concurrent_streams must be from 0 to 2147483647"
        }
        if let stallSeconds, !(stallSeconds > 0 && stallSeconds <= 86_400) {
            return "stall_seconds must be greater than 0 and at most 86400"
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

    /// Reads a JSON object. A missing key leaves the fault off; an unknown key is an error.
    package init(from decoder: any Decoder) throws {
        // The control port reads "gateway", which says whose plan it is.
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
    package func encode(to encoder: any Encoder) throws {
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

    /// Explains in words what is wrong with a plan's JSON.
    package static func explain(_ error: DecodingError) -> String {
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
    /// Reads a plan in the form of the control port and the command line.
    ///
    /// - Throws: `DecodingError` if it is not a plan.
    package init(json: some Collection<UInt8>) throws {
        self = try JSONBody.decode(FaultPlan.self, from: json)
    }
}
