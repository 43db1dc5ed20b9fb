import PushCore

/// A seed address, which gets proofs of deliveries; without its token.
package struct SeedRow: Sendable, Hashable {
    /// Its name in commands and SQL, unique.
    package let name: String
    /// A label for people.
    package let label: String
    package let application: String
    /// The platform of its application.
    package let platform: Platform
    package let subscriptionID: Int64
    /// The language tag of its messages; "" if unknown.
    package let locale: String
    /// The values of the fields in its messages, a JSON object.
    package let variables: String
    /// Whether its subscription belongs to no subscriber: deliveries leave it out, and only proofs go to it.
    package let isSeedOnly: Bool
    /// Why it cannot get messages, "" if it can: `disabled`, `opted_out` or `quarantine`.
    package let problem: String
}
