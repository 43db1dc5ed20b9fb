import Crypto
import HTTP2
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Somebody who looks at the wire; every method is called on the gateway's event loop.
public protocol GatewayTracer: AnyObject, Sendable {
    /// Which of these messages, which are about to be handed to the wire together, somebody wants to see.
    ///
    /// Asked before they leave and once for all of them: a look at each message's end would be seen in the rate, and so would keeping
    /// every answer's header fields for the few that are shown.
    ///
    /// - Parameter token: the push token of a message.
    /// - Returns: the traces that are to see a message, by its index below the count.
    func choose(from count: Int, ofDelivery id: Int64, token: (Int) -> ArraySlice<UInt8>) -> [Int32: [Int64]]

    /// A request has ended that these want to see.
    func saw(_ exchange: CopiedExchange, for traces: [Int64])
}

/// A request that was on the wire, and what came back, copied as they were: its secrets are for nobody, so that all that can be had of it
/// is the exchange without them. To take them out is dear, and is done beside the event loop.
public struct CopiedExchange: Sendable {
    fileprivate let deliveryID: Int64
    fileprivate let token: [UInt8]
    fileprivate let fields: [HTTP2HeaderField]
    fileprivate let body: [UInt8]
    fileprivate let echoed: HTTP2HeaderField?
    fileprivate let result: HTTP2Result
    fileprivate let latencyMicroseconds: UInt32

    init(_ completion: HTTP2Completion, deliveryID: Int64, token: ArraySlice<UInt8>) {
        self.deliveryID = deliveryID
        // A slice would keep the tokens of the whole batch.
        self.token = Array(token)
        fields = completion.batch.headerFields(completion.index)
        body = completion.batch.body(completion.index)
        echoed = completion.batch.ownField(completion.index)
        result = completion.result
        latencyMicroseconds = completion.latencyMicroseconds
    }

    /// What people may see of it.
    public var withoutSecrets: GatewayExchange { GatewayExchange(self) }
}

/// One header field on the wire.
public struct WireField: Sendable, Hashable {
    /// The lower-case name; pseudo-header fields begin with a colon.
    public var name: String
    /// The value; ``GatewayExchange/hidden`` where it is a secret.
    public var value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A request that was on the wire, and what came back, without secrets: what authorises it is replaced, and the push token is its hash,
/// wherever they stand, in the answer too.
///
/// Texts for people are still in it: ``TraceMask`` takes them out.
public struct GatewayExchange: Sendable {
    /// What stands in the place of a secret.
    public static let hidden = "(hidden)"
    /// More of a body is not kept: the largest payload has 5,120 bytes, and the gateways' answers a few hundred.
    static let longestBody = 16 * 1_024

    /// The delivery that the message is of.
    public var deliveryID: Int64
    /// The SHA-256 hash of the push token, as hexadecimal digits.
    public var tokenHash: String
    /// The request's header fields, in their order.
    public var requestFields: [WireField]
    public var requestBody: [UInt8]
    /// The answer's header fields, `:status` first; empty without an answer.
    public var answerFields: [WireField]
    public var answerBody: [UInt8]
    /// Why there is no answer; nil if there is one.
    public var failure: String?
    /// From writing the request to its end.
    public var latencyMicroseconds: UInt32

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

/// The hash by which a push token is named where the token itself must not stand.
public enum PushTokenHash {
    /// SHA-256 of the token's bytes in lower-case hexadecimal digits, as `printf %s TOKEN | sha256sum` writes it.
    public static func text(_ token: some Sequence<UInt8>) -> String {
        HexDigit.text(SHA256.hash(data: Array(token)))
    }

    /// Whether a text can be such a hash.
    public static func isHash(_ text: String) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { HexDigit.value($0) != nil }
    }

    /// The bytes of such a hash; nil if the text is none.
    public static func bytes(_ text: String) -> [UInt8]? {
        guard isHash(text) else { return nil }
        let digits = text.utf8.compactMap { HexDigit.value($0) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// Whether a push token has a hash, given as its bytes.
    public static func isHash(_ hash: [UInt8], of token: ArraySlice<UInt8>) -> Bool {
        SHA256.hash(data: token).elementsEqual(hash)
    }
}

/// Takes out of an exchange what nobody may see.
struct SecretScrubber {
    /// Fields of requests whose values are no secrets. All others are hidden: a new one must not tell a secret because nobody thought of
    /// it.
    private static let open: Set<String> = [
        ":method", ":scheme", ":authority", ":path", "apns-id", "apns-topic", "apns-push-type", "apns-priority",
        "apns-expiration", "apns-collapse-id", "content-type",
    ]
    /// Fields of answers that may have a secret of their own, such as a session with a proxy.
    private static let closedInAnswers: Set<String> = [
        "authorization", "proxy-authorization", "proxy-authenticate", "www-authenticate", "authentication-info",
        "proxy-authentication-info", "set-cookie", "cookie",
    ]

    private let replacements: [(secret: [UInt8], replacement: [UInt8])]

    /// - Parameter fields: those of the request, which have the secrets that an answer could repeat.
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

    /// A body; what is too long is cut after the secrets are out, so that none is cut in two.
    func bytes(_ body: [UInt8]) -> [UInt8] {
        Array(
            replacements.reduce(body) { Self.replace($1.secret, in: $0, by: $1.replacement) }.prefix(
                GatewayExchange.longestBody
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
