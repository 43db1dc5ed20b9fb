import PushCore

/// A message to be shown before it is sent.
package struct ShownMessage: Sendable {
    /// Host and port of the account.
    package var address: String
    /// The push token.
    package var token: String
    /// The application's bundle id.
    package var bundleID: String
    package var attributes: MessageAttributes
    package var messageID: MessageUUID
    /// The message's own collapse id; nil for none, or if the attributes have it.
    package var collapseID: String?
    /// Google's name for the project; nil until a credential gives it.
    package var projectID: String?
    /// The time from which an expiration counts, in seconds since 1970.
    package var now: Int64

    package init(
        address: String,
        token: String,
        bundleID: String,
        attributes: MessageAttributes,
        messageID: MessageUUID,
        collapseID: String?,
        projectID: String?,
        now: Int64
    ) {
        self.address = address
        self.token = token
        self.bundleID = bundleID
        self.attributes = attributes
        self.messageID = messageID
        self.collapseID = collapseID
        self.projectID = projectID
        self.now = now
    }
}

/// A header field, or its equivalent in a protocol without headers.
package struct ShownField: Sendable, Hashable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
