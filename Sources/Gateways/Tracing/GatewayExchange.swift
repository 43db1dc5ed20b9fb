import Crypto
import HTTP2
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request that was on the wire and its answer, copied as they were. Its only output is the exchange without secrets.
/// Removing them is expensive, so it happens outside the event loop.
package struct CopiedExchange: Sendable {
    fileprivate let deliveryID: Int64
    fileprivate let token: [UInt8]
    fileprivate let fields: [HTTP2HeaderField]
    fileprivate let body: [UInt8]
    fileprivate let echoed: HTTP2HeaderField?
    fileprivate let result: HTTP2Result
    fileprivate let latencyMicroseconds: UInt32

    init(_ completion: HTTP2Completion, deliveryID: Int64, token: ArraySlice<UInt8>) {
        self.deliveryID = deliveryID
        // A slice would retain the tokens of the whole batch.
        self.token = Array(token)
        fields = completion.batch.headerFields(completion.index)
        body = completion.batch.body(completion.index)
        echoed = completion.batch.ownField(completion.index)
        result = completion.result
        latencyMicroseconds = completion.latencyMicroseconds
    }

    /// The exchange without secrets.
    package var withoutSecrets: GatewayExchange { GatewayExchange(self) }
}

/// One header field on the wire.
package struct WireField: Sendable, Hashable {
    /// The lower-case name; pseudo-header fields begin with a colon.
    package var name: String
    /// The value; ``GatewayExchange/hidden`` where it is a secret.
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A request that was on the wire and its answer, without secrets. Its authorization is replaced, and the push token by
/// its hash, wherever they occur, also in the answer.
///
/// It still contains texts that people read; ``TraceMask`` removes them.
package struct GatewayExchange: Sendable {
    /// The replacement for a secret.
    package static let hidden = "(hidden)"
    /// The maximum number of body bytes kept: the largest payload has 5,120 bytes, and the gateways' answers a few
    /// hundred.
    static let maxBodyLength = 16 * 1_024

    /// The message's delivery.
    package var deliveryID: Int64
    /// The SHA-256 hash of the push token, as hexadecimal digits.
    package var tokenHash: String
    /// The request's header fields, in their order.
    package var requestFields: [WireField]
    package var requestBody: [UInt8]
    /// The answer's header fields, `:status` first; empty without an answer.
    package var answerFields: [WireField]
    package var answerBody: [UInt8]
    /// Why there is no answer; nil if there is one.
    package var failure: String?
    /// From writing the request to its end.
    package var latencyMicroseconds: UInt32

    fileprivate init(_ copy: CopiedExchange) {
        let hash = PushTokenHash.text(copy.token)
        let scrubber = SecretScrubber(copy.fields, token: copy.token, hash: hash)
        deliveryID = copy.deliveryID
        tokenHash = hash
        latencyMicroseconds = copy.latencyMicroseconds
        requestFields = copy.fields.map { scrubber.request($0) }
        requestBody = scrubber.bytes(copy.body)
        answerFields = []
        answerBody = []
        switch copy.result {
        case .response(let response):
            answerFields = Self.fields(of: response, echoed: copy.echoed).map { scrubber.answer($0) }
            answerBody = scrubber.bytes(response.body)
        case .unprocessed(let failure): self.failure = "not processed: \(failure)"
        case .ambiguous(let failure): self.failure = "not known whether it was processed: \(failure)"
        }
    }

    private static func fields(of response: HTTP2Response, echoed: HTTP2HeaderField?) -> [HTTP2HeaderField] {
        var fields = [HTTP2HeaderField(":status", String(response.status))]
        if response.echoesRequest, let echoed { fields.append(echoed) }
        if let retryAfter = response.retryAfter { fields.append(HTTP2HeaderField("retry-after", retryAfter)) }
        return fields + (response.otherFields ?? [])
    }
}

/// Removes the secrets from an exchange.
struct SecretScrubber {
    /// Request fields whose values are not secret. All others are hidden, so that a field added later cannot reveal a
    /// secret.
    private static let open: Set<String> = [
        ":method", ":scheme", ":authority", ":path", "apns-id", "apns-topic", "apns-push-type", "apns-priority",
        "apns-expiration", "apns-collapse-id", "content-type",
    ]
    /// Answer fields that may hold a secret of their own, such as a session with a proxy.
    private static let closedInAnswers: Set<String> = [
        "authorization", "proxy-authorization", "proxy-authenticate", "www-authenticate", "authentication-info",
        "proxy-authentication-info", "set-cookie", "cookie",
    ]

    private let replacements: [(secret: [UInt8], replacement: [UInt8])]

    /// - Parameter fields: those of the request, which hold the secrets that an answer could repeat.
    init(_ fields: [HTTP2HeaderField], token: [UInt8], hash: String) {
        var found: [(secret: [UInt8], replacement: [UInt8])] = []
        for field in fields where !Self.open.contains(field.name) && !field.value.isEmpty {
            found.append((Array(field.value.utf8), Array(GatewayExchange.hidden.utf8)))
            // `bearer TOKEN`: an answer may repeat the second word alone.
            if let last = field.value.split(separator: " ").last, last.utf8.count < field.value.utf8.count {
                found.append((Array(last.utf8), Array(GatewayExchange.hidden.utf8)))
            }
        }
        if !token.isEmpty { found.append((token, Array(hash.utf8))) }
        replacements = found
    }

    func request(_ field: HTTP2HeaderField) -> WireField {
        WireField(field.name, Self.open.contains(field.name) ? text(field.value) : GatewayExchange.hidden)
    }

    func answer(_ field: HTTP2HeaderField) -> WireField {
        WireField(
            text(field.name),
            Self.closedInAnswers.contains(field.name) ? GatewayExchange.hidden : text(field.value)
        )
    }

    /// A body. If it is too long, it is cut after the secrets were removed, so that none is split.
    func bytes(_ body: [UInt8]) -> [UInt8] {
        Array(
            replacements.reduce(body) { Self.replace($1.secret, in: $0, by: $1.replacement) }.prefix(
                GatewayExchange.maxBodyLength
            )
        )
    }

    private func text(_ text: String) -> String { String(decoding: bytes(Array(text.utf8)), as: UTF8.self) }

    private static func replace(_ secret: [UInt8], in bytes: [UInt8], by replacement: [UInt8]) -> [UInt8] {
        guard bytes.count >= secret.count else { return bytes }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var position = 0
        while position < bytes.count {
            if bytes[position] == secret[0], bytes[position...].starts(with: secret) {
                output += replacement
                position += secret.count
            } else {
                output.append(bytes[position])
                position += 1
            }
        }
        return output
    }
}
