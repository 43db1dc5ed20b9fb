/// How a registration ended.
///
/// The six are those of Adobe's old SDK (`ACCRegisterDeviceStatus`).
public enum RegistrationOutcome: Sendable, Equatable {
    /// The server has stored the registration, or has it already in this form.
    case success
    /// No marketing host was set, or one that names no server.
    case marketingHostEmpty
    /// No integration key was set.
    case integrationKeyEmpty
    /// The server could not be reached. The registration stays queued and is sent again.
    case connectionIssue(reason: String)
    /// The server has no application with this integration key.
    case unknownIntegrationKey
    /// The server refused the registration and said this. If it was only busy or broken, the registration stays queued.
    case unexpectedError(reason: String)

    /// More about a failure; nil for the outcomes that say all by themselves.
    public var errorReason: String? {
        switch self {
        case .connectionIssue(let reason), .unexpectedError(let reason): reason
        case .success, .marketingHostEmpty, .integrationKeyEmpty, .unknownIntegrationKey: nil
        }
    }
}
