/// A share of the pushes that would have been accepted and is rejected with one reason instead.
public struct ErrorRate: Sendable, Equatable {
    /// The reason as the gateway writes it, such as `Unregistered` or `UNAVAILABLE`.
    public var reason: String
    /// The share, from 0 to 1.
    public var rate: Double
    /// The value of the Retry-After header, a number of seconds or an HTTP date; none when nil.
    public var retryAfter: String?

    /// That share of pushes is rejected with that reason.
    public init(reason: String, rate: Double, retryAfter: String? = nil) {
        self.reason = reason
        self.rate = rate
        self.retryAfter = retryAfter
    }
}

extension ErrorRate: Codable {
    private enum Key: String, CodingKey, CaseIterable {
        case reason, rate
        case retryAfter = "retry_after"
    }

    /// Reads `{"reason":"Unregistered","rate":0.01,"retry_after":"5"}`; the last is optional.
    public init(from decoder: any Decoder) throws {
        try StrictKeys.check(decoder, known: Key.allCases.map(\.rawValue))
        let values = try decoder.container(keyedBy: Key.self)
        reason = try values.decode(String.self, forKey: .reason)
        rate = try values.decode(Double.self, forKey: .rate)
        retryAfter = try values.decodeIfPresent(String.self, forKey: .retryAfter)
    }

    /// Writes the form that `init(from:)` reads.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(reason, forKey: .reason)
        try values.encode(rate, forKey: .rate)
        try values.encodeIfPresent(retryAfter, forKey: .retryAfter)
    }
}

/// Error packets at a regular distance: every so many notifications that would have been taken one is refused.
public struct ErrorPacketFault: Sendable, Equatable {
    /// The distance, over all connections; 1 refuses every notification.
    public var every: Int
    /// The status of the packet, as Apple numbers them.
    public var status: UInt8

    /// An error packet every so many notifications.
    public init(every: Int, status: UInt8) {
        self.every = every
        self.status = status
    }
}

extension ErrorPacketFault: Codable {
    private enum Key: String, CodingKey, CaseIterable {
        case every, status
    }

    /// Reads `{"every":1000,"status":8}`.
    public init(from decoder: any Decoder) throws {
        try StrictKeys.check(decoder, known: Key.allCases.map(\.rawValue))
        let values = try decoder.container(keyedBy: Key.self)
        self.init(
            every: try values.decode(Int.self, forKey: .every),
            status: try values.decode(UInt8.self, forKey: .status)
        )
    }

    /// Writes the form that `init(from:)` reads.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(every, forKey: .every)
        try values.encode(status, forKey: .status)
    }
}

/// A GOAWAY that each connection gets after some streams.
public struct GoAwayFault: Sendable, Equatable {
    /// After how many streams of a connection it is sent; 0 sends it at once, with last-stream-id 0.
    public var afterStreams: Int
    /// How many further streams arrive before the frame leaves; they lie above its last-stream-id and are never processed.
    public var unprocessed: Int
    /// The value of `reason` in the JSON of the debug data; no debug data when nil.
    public var reason: String?
    /// Debug data that is no JSON, as FCM's front ends send it; in place of the reason.
    public var text: String?
    /// The HTTP/2 error code; APNs sends 0 (NO_ERROR) even for fatal reasons.
    public var errorCode: UInt32
    /// Announces 2^31-1 as the last-stream-id (RFC 9113 section 6.8) and answers everything that still comes.
    public var isGraceful: Bool

    /// A GOAWAY after that many streams of each connection.
    public init(
        afterStreams: Int,
        unprocessed: Int = 0,
        reason: String? = nil,
        text: String? = nil,
        errorCode: UInt32 = 0,
        isGraceful: Bool = false
    ) {
        self.afterStreams = afterStreams
        self.unprocessed = unprocessed
        self.reason = reason
        self.text = text
        self.errorCode = errorCode
        self.isGraceful = isGraceful
    }

    /// The debug data: `{"reason":"…"}` as APNs writes it, or nothing.
    var debugData: [UInt8] {
        if let text { return Array(text.utf8) }
        guard let reason else { return [] }
        return Array("{\"reason\":\(JSONText.quoted(reason))}".utf8)
    }
}

extension GoAwayFault: Codable {
    private enum Key: String, CodingKey, CaseIterable {
        case afterStreams = "after_streams"
        case unprocessed, reason, text
        case errorCode = "error_code"
        case isGraceful = "graceful"
    }

    /// Reads `{"after_streams":500,"unprocessed":10,"reason":"Shutdown","error_code":0}`; only the first is required.
    public init(from decoder: any Decoder) throws {
        try StrictKeys.check(decoder, known: Key.allCases.map(\.rawValue))
        let values = try decoder.container(keyedBy: Key.self)
        self.init(
            afterStreams: try values.decode(Int.self, forKey: .afterStreams),
            unprocessed: try values.decodeIfPresent(Int.self, forKey: .unprocessed) ?? 0,
            reason: try values.decodeIfPresent(String.self, forKey: .reason),
            text: try values.decodeIfPresent(String.self, forKey: .text),
            errorCode: try values.decodeIfPresent(UInt32.self, forKey: .errorCode) ?? 0,
            isGraceful: try values.decodeIfPresent(Bool.self, forKey: .isGraceful) ?? false
        )
    }

    /// Writes the form that `init(from:)` reads.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(afterStreams, forKey: .afterStreams)
        try values.encode(unprocessed, forKey: .unprocessed)
        try values.encodeIfPresent(reason, forKey: .reason)
        try values.encodeIfPresent(text, forKey: .text)
        try values.encode(errorCode, forKey: .errorCode)
        try values.encode(isGraceful, forKey: .isGraceful)
    }
}
