import PushCore

extension MessageAttributes {
    /// A header field of a request to APNs.
    public struct HeaderField: Sendable, Hashable {
        /// Its name, in lower case.
        public let name: String
        /// Its value.
        public let value: String
        /// Whether it is another one every second, so that it would only crowd the table of a connection.
        public let isVolatile: Bool

        init(_ name: String, _ value: String, isVolatile: Bool = false) {
            self.name = name
            // What HTTP/2 calls malformed would be reset without an answer.
            self.value = HeaderText.cleaned(value)
            self.isVolatile = isVolatile
        }
    }

    /// What all requests to APNs with these attributes say in their headers, authorization and path aside.
    ///
    /// - Parameters:
    ///   - topic: the application's bundle id.
    ///   - now: seconds since 1970, from which the expiration counts.
    public func apnsFields(topic: String, now: Int64) -> [HeaderField] {
        var fields = [
            HeaderField("apns-topic", HeaderText.cleaned(topic) + topicSuffix),
            HeaderField("apns-push-type", pushType.rawValue),
        ]
        if let priority { fields.append(HeaderField("apns-priority", String(priority))) }
        if let expirationSeconds {
            let moment = expirationSeconds == 0 ? 0 : now &+ Int64(expirationSeconds)
            fields.append(HeaderField("apns-expiration", String(moment), isVolatile: true))
        }
        if let collapseID { fields.append(HeaderField("apns-collapse-id", collapseID)) }
        return fields
    }
}
