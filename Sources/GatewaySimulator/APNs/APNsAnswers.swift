import HTTP2
import PushCore

/// The answers of APNs. Heads are made once; only the `apns-id` of each push is filled in.
struct APNsAnswers {
    private let accepted = HTTP2PreparedResponse(status: 200, headers: [], varyingHeader: "apns-id")
    private let heads: [HTTP2PreparedResponse]
    private let bodies: [[UInt8]]
    private let isSandbox: Bool
    private var random = SystemRandomNumberGenerator()

    init(isSandbox: Bool) {
        self.isSandbox = isSandbox
        heads = APNsReason.allCases.map {
            HTTP2PreparedResponse(
                status: $0.status,
                headers: [("content-type", "application/json")],
                varyingHeader: "apns-id"
            )
        }
        bodies = APNsReason.allCases.map { $0.body(sinceMilliseconds: 0) }
    }

    /// The code of a reason.
    func code(_ reason: APNsReason) -> UInt8 {
        UInt8((APNsReason.allCases.firstIndex(of: reason) ?? 0) + 1)
    }

    /// Answers one push. If the id is empty, the gateway makes one and writes it in upper case.
    mutating func send(
        _ judgement: Judgement,
        id: ArraySlice<UInt8>,
        streamID: Int32,
        on connection: HTTP2ServerConnection
    ) {
        let id = id.isEmpty ? Self.upperCase(judgement.key) : id
        if judgement.isAccepted {
            let response = isSandbox ? sandboxResponse() : accepted
            return connection.respond(streamID, response, varyingValue: id)
        }
        let number = Int(judgement.code) - 1
        let reason = APNsReason.allCases[number]
        let body = reason.status == 410 ? reason.body(sinceMilliseconds: judgement.sinceMilliseconds) : bodies[number]
        var head = heads[number]
        if let retryAfter = judgement.retryAfter {
            head = HTTP2PreparedResponse(
                status: reason.status,
                headers: [("content-type", "application/json"), ("retry-after", retryAfter)],
                varyingHeader: "apns-id"
            )
        }
        connection.respond(streamID, head, varyingValue: id, body: body)
    }

    /// An answer of the development environment, which adds a second id for Apple's console.
    private mutating func sandboxResponse() -> HTTP2PreparedResponse {
        let id = MessageUUID(high: random.next(), low: random.next())
        return HTTP2PreparedResponse(
            status: 200,
            headers: [("apns-unique-id", id.description)],
            varyingHeader: "apns-id"
        )
    }

    private static func upperCase(_ key: MessageKey) -> ArraySlice<UInt8> {
        Array(MessageUUID(high: key.high, low: key.low).description.uppercased().utf8)[...]
    }
}
