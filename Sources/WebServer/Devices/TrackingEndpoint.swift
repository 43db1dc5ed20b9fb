import HTTPTypes
import PushCore
import Store

/// `GET /r/?id=h<message>,<delivery>,<tag>`: hits, and with the tag 4 conversions, which may have `name` and `value`.
struct TrackingEndpoint: Sendable {
    let writer: TrackingWriter
    let conversions: ConversionWriter

    /// Calls `answer` on any thread: with 200 only once the hit is in the database or on disk.
    func answer(
        _ request: HTTPRequest,
        query: Substring,
        _ exchange: WebExchange,
        _ answer: @escaping @Sendable (WebAnswer) -> Void
    ) {
        guard request.method == .get else { return answer(.wrongMethod(allowed: "GET")) }
        let text = Self.id(query)
        if let id = text.flatMap({ TrackingID(conversion: $0) }) { return convert(id, query, answer) }
        guard let id = text.flatMap({ TrackingID($0) }) else {
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

    private func convert(_ id: TrackingID, _ query: Substring, _ answer: @escaping @Sendable (WebAnswer) -> Void) {
        var form = FormParameters()
        guard (try? form.read(Array(query.utf8))) != nil else { return answer(.malformedConversion) }
        let typed = form["value"] ?? ""
        let value = Double(typed)
        guard typed.isEmpty || value.map({ ConversionBody.values.contains($0) }) == true else {
            return answer(.malformedConversion)
        }
        conversions.submit(id, name: form["name"] ?? ConversionBody.usualName, value: value) { outcome in
            switch outcome {
            // What is repeated or ignored must not be sent again.
            case .recorded, .repeated, .ignored: answer(.tracked)
            case .unknown: answer(.unknownMessage)
            case .invalid: answer(.malformedConversion)
            case nil: answer(.conversionRefused)
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
