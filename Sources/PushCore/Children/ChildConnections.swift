/// The connections of a child to its gateway.
public struct ChildConnections: Sendable, Equatable {
    public var open: Int32 = 0
    /// How many the child wants: what rate and latency ask for.
    public var wanted: Int32 = 0
    /// Why so many, in a word; "" where the number is fixed.
    public var reason = ""
    /// Requests without an answer.
    public var streamsInFlight: Int32 = 0
    /// Messages that may be without a stored outcome: the most that can be sent twice if this host is lost with its disk now.
    public var dispatchWindow: Int32 = 0
    /// The most connections that the settings allow.
    public var limit: Int32 = 0
    /// The largest dispatch window that the settings allow.
    public var dispatchWindowLimit: Int32 = 0
    /// What keeps the child from sending faster.
    public var limitedBy: SendingLimit?

    public init() {}
}

extension ChildConnections: Codable {
    private enum CodingKeys: String, CodingKey {
        case open, wanted, reason, limit
        case streamsInFlight = "streams_in_flight"
        case dispatchWindow = "dispatch_window"
        case dispatchWindowLimit = "dispatch_window_limit"
        case limitedBy = "limited_by"
    }

    /// Reads what is known here of a report of this or another version.
    public init(from decoder: any Decoder) throws {
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
