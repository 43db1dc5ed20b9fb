/// A GOAWAY that each connection gets after some streams.
package struct GoAwayFault: Sendable, Equatable {
    /// The number of streams after which it is sent; 0 sends it at once, with last-stream-id 0.
    package var afterStreams: Int
    /// The number of further streams that arrive before the frame is sent. They are above its last-stream-id and are
    /// never processed.
    package var unprocessed: Int
    /// The value of `reason` in the JSON debug data; nil for no debug data.
    package var reason: String?
    /// Debug data that is not JSON, as FCM's front ends send it; it replaces the reason.
    package var text: String?
    /// The HTTP/2 error code; APNs sends 0 (NO_ERROR) even for fatal reasons.
    package var errorCode: UInt32
    /// Whether to announce 2^31-1 as the last-stream-id (RFC 9113 section 6.8) and to answer everything that still
    /// arrives.
    package var isGraceful: Bool

    /// A GOAWAY after this many streams of each connection.
    package init(
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

    /// The debug data: the text, `{"reason":"…"}` as APNs writes it, or nothing.
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

    /// Reads `{"after_streams":500,"unprocessed":10,"reason":"Shutdown","error_code":0}`; only the first key is
    /// required.
    package init(from decoder: any Decoder) throws {
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
    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(afterStreams, forKey: .afterStreams)
        try values.encode(unprocessed, forKey: .unprocessed)
        try values.encodeIfPresent(reason, forKey: .reason)
        try values.encodeIfPresent(text, forKey: .text)
        try values.encode(errorCode, forKey: .errorCode)
        try values.encode(isGraceful, forKey: .isGraceful)
    }
}
