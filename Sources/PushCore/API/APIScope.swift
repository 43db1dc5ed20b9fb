/// What a key of the API may be used for.
public enum APIScope: String, Sendable, Hashable, CaseIterable {
    /// Registers, unregisters, opts out and in.
    case writeDevices = "devices:write"
    /// Reads devices, with their push tokens.
    case readDevices = "devices:read"
    /// Creates deliveries and controls them.
    case writeDeliveries = "deliveries:write"
    /// Reads deliveries and their outcomes.
    case readDeliveries = "deliveries:read"
    /// Sends single messages.
    case sendMessages = "messages:send"
    /// Looks single messages up.
    case readMessages = "messages:read"
    /// Reads applications.
    case readApplications = "applications:read"

    /// What it allows, for people.
    public var meaning: String {
        switch self {
        case .writeDevices: "Register, unregister, opt out and in."
        case .readDevices: "Read devices, with their push tokens."
        case .writeDeliveries: "Create, start, pause, resume and stop deliveries."
        case .readDeliveries: "Read deliveries and their outcomes."
        case .sendMessages: "Send single messages."
        case .readMessages: "Look single messages up."
        case .readApplications: "Read applications."
        }
    }
}
