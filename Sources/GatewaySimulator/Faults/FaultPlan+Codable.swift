extension FaultPlan: Codable {
    enum Key: String, CodingKey, CaseIterable {
        case seed, latency, errors, outage
        case errorPackets = "error_packets"
        case closesAtOnce = "closes_at_once"
        case goAway = "goaway"
        case refusedRate = "refused_rate"
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
