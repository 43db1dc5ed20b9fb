import HTTPTypes
import PushCore
import Store

/// `GET /r/?id=h<message>,<delivery>,<tag>`.
struct TrackingEndpoint: Sendable {
    let writer: TrackingWriter

    /// Calls `answer` on any thread: with 200 only once the hit is in the database or on disk.
    func answer(
        _ request: HTTPRequest,
        query: Substring,
        _ exchange: WebExchange,
        _ answer: @escaping @Sendable (WebAnswer) -> Void
    ) {
        guard request.method == .get else { return answer(.wrongMethod(allowed: "GET")) }
        guard let text = Self.id(query), let id = TrackingID(text) else {
            writer.drop(DroppedHits(malformed: 1))
            return answer(.malformedTrackingID)
        }
        let hit = TrackingHit(
            id: id,
            microseconds: WallClock.microseconds,
            address: exchange.client,
            userAgent: request.headerFields[.userAgent] ?? ""
        )
        writer.submit(hit) { decision in
            switch decision {
            case .stored, .spooled: answer(.tracked)
            case .unknown, .foreign: answer(.unknownMessage)
            case .unavailable: answer(.storageFull)
            }
        }
    }

    private static func needsDecoding(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "%") || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "&")
    }

    /// The parameter `id`; in the form that SDKs send it needs no decoding.
    private static func id(_ query: Substring) -> String? {
        if query.hasPrefix("id="), !query.utf8.contains(where: Self.needsDecoding) {
            return String(query.dropFirst(3))
        }
        var form = FormParameters()
        guard (try? form.read(Array(query.utf8))) != nil else { return nil }
        return form["id"]
    }
}
