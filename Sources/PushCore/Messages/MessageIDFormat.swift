/// The format of an application's `_mId`.
package enum MessageIDFormat: String, Sendable, Hashable, Codable, CaseIterable {
    /// The encrypted id as a UUID, which cannot be guessed; the default.
    case uuid
    /// A positive decimal number from one global range, for SDK versions that call `Integer.valueOf`.
    case int32
}
