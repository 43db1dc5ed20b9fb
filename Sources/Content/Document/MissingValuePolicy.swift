/// What to do if a field that a text uses has no value: it is null or blank.
package enum MissingValuePolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// Use the field's default; without a default, use nothing.
    case `default`
    /// Use nothing, even if there is a default.
    case empty
    /// Do not send the message, unless the field has a default.
    case exclude
}
