import PushCore

/// The JSON object of an APNs error, in a response or in the debug data of GOAWAY.
struct APNsErrorBody: Sendable, Equatable {
    /// The reason, word for word; empty when there is none.
    var reason = ""
    /// When the token became invalid, in milliseconds since 1970; nil when that is not there, or absurd.
    var timestamp: Int64?

    private struct Fields: Decodable {
        var reason: String?
        var timestamp: Int64?

        enum CodingKeys: CodingKey {
            case reason, timestamp
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            // A field of a type that nobody expects must not hide the other one.
            reason = try? values.decode(String.self, forKey: .reason)
            timestamp = try? values.decode(Int64.self, forKey: .timestamp)
        }
    }

    /// Reads a body; what is not there or not JSON is left out.
    init(_ body: [UInt8]) {
        guard !body.isEmpty, let fields = try? JSONBody.decode(Fields.self, from: body) else {
            return
        }
        reason = ReasonText.storable(fields.reason ?? "")
        timestamp = TokenEffect.credibleTime(fields.timestamp)
    }
}
