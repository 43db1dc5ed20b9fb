/// A message as it would go to its gateway, for people to look at.
public struct MessagePreview: Sendable, Hashable {
    /// A header field, or what a protocol without headers has in their place.
    public struct Field: Sendable, Hashable {
        /// Its name.
        public let name: String
        /// Its value.
        public let value: String
    }

    /// The locale of the content's variant; "" for the one without.
    public let locale: String
    /// What the request says besides its payload; without the authorization, which is a secret.
    public let headers: [Field]
    /// The payload, byte for byte.
    public let payload: [UInt8]
    /// The payload's size as the gateway counts it.
    public let size: Int
    /// The size that the gateway takes.
    public let limit: Int
    /// Why the message would not go out, as it would stand in its outcome; nil if it would.
    public let problem: String?
    /// What has to be known of the push token that it goes to; nil if there is nothing.
    public let notice: String?
}
