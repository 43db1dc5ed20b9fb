/// A seed address to add.
package struct NewSeed: Sendable {
    /// Its name in commands and SQL: not a number, and without a comma.
    package var name: String
    /// A label for people.
    package var label: String
    /// Name of its application; not needed with a subscription id.
    package var application: String?
    /// A user's is the newest subscription in the application; a push token need not belong to a subscriber.
    package var address: Addressee
    /// The values of the fields in its messages, a JSON object; nil for those of the subscription.
    package var variables: String?
    /// The language tag of a token that belongs to no subscriber.
    package var locale: String

    package init(
        name: String,
        label: String = "",
        application: String? = nil,
        address: Addressee,
        variables: String? = nil,
        locale: String = ""
    ) {
        self.name = name
        self.label = label
        self.application = application
        self.address = address
        self.variables = variables
        self.locale = locale
    }
}
