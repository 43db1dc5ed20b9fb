import Gateways

/// A message as it would be sent to its gateway, for people to read.
package struct MessagePreview: Sendable, Hashable {
    /// The locale of the content's variant; "" for the one without a locale.
    package let locale: String
    /// The request's fields other than the payload, without the authorization, which is secret.
    package let headers: [ShownField]
    /// The payload, byte for byte.
    package let payload: [UInt8]
    /// The payload's size as the gateway counts it.
    package let size: Int
    /// The maximum size that the gateway accepts.
    package let limit: Int
    /// Why the message would not be sent, as its outcome would record it; nil if it would.
    package let problem: String?
    /// What to know about the push token that the message goes to; nil if there is nothing.
    package let notice: String?

    /// The same for people who may not see the push token.
    package func hiding(_ token: String) -> MessagePreview {
        guard !token.isEmpty else { return self }
        let hidden = "(push token)"
        return MessagePreview(
            locale: locale,
            headers: headers.map { ShownField($0.name, $0.value.replacing(token, with: hidden)) },
            payload: Array(String(decoding: payload, as: UTF8.self).replacing(token, with: hidden).utf8),
            size: size,
            limit: limit,
            problem: problem,
            notice: notice
        )
    }
}
