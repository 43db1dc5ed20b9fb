/// How an application's `_mId` is written; each application has one.
public enum MessageIDFormat: String, Sendable, Hashable, Codable, CaseIterable {
    /// The encrypted id as a UUID: unguessable, and the default.
    case uuid
    /// A positive decimal number from one global range, for SDK versions that call `Integer.valueOf`.
    case int32
}
