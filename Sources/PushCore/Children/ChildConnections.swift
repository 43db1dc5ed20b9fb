/// The connections of a child to its gateway.
package struct ChildConnections: Sendable, Equatable {
    package var open: Int32 = 0
    /// How many connections the child wants, from its rate and the gateway's latency.
    package var wanted: Int32 = 0
    /// The reason for `wanted`, in a word; "" where the number is fixed.
    package var reason = ""
    /// Requests without an answer.
    package var streamsInFlight: Int32 = 0
    /// The maximum number of messages without a stored outcome.
    ///
    /// If this host and its disk were lost now, at most this many messages could be sent twice.
    package var dispatchWindow: Int32 = 0
    /// The maximum number of connections that the settings allow.
    package var limit: Int32 = 0
    /// The largest dispatch window that the settings allow.
    package var dispatchWindowLimit: Int32 = 0
    /// What keeps the child from sending faster.
    package var limitedBy: SendingLimit?

    package init() {}
}

extension ChildConnections: Codable {
    private enum CodingKeys: String, CodingKey {
        case open, wanted, reason, limit
        case streamsInFlight = "streams_in_flight"
        case dispatchWindow = "dispatch_window"
        case dispatchWindowLimit = "dispatch_window_limit"
        case limitedBy = "limited_by"
    }

    /// Reads the members that this version knows from a report of this or another version.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        open = try values.decodeIfPresent(Int32.self, forKey: .open) ?? open
        wanted = try values.decodeIfPresent(Int32.self, forKey: .wanted) ?? wanted
        reason = try values.decodeIfPresent(String.self, forKey: .reason) ?? reason
        streamsInFlight = try values.decodeIfPresent(Int32.self, forKey: .streamsInFlight) ?? streamsInFlight
        dispatchWindow = try values.decodeIfPresent(Int32.self, forKey: .dispatchWindow) ?? dispatchWindow
        limit = try values.decodeIfPresent(Int32.self, forKey: .limit) ?? limit
        dispatchWindowLimit =
            try values.decodeIfPresent(Int32.self, forKey: .dispatchWindowLimit) ?? dispatchWindowLimit
        limitedBy = try values.decodeIfPresent(String.self, forKey: .limitedBy).flatMap(SendingLimit.init)
    }
}
