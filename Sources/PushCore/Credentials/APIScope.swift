/// What an API key may be used for.
package enum APIScope: String, Sendable, Hashable, CaseIterable {
    /// Registers and unregisters devices; opts users out and in.
    case writeDevices = "devices:write"
    /// Reads devices, including their push tokens.
    case readDevices = "devices:read"
    /// Creates and controls deliveries; manages templates, seed addresses, saved audiences and control groups.
    case writeDeliveries = "deliveries:write"
    /// Approves and rejects deliveries that others made. Separate, so that a system which creates deliveries cannot
    /// release them.
    case approveDeliveries = "deliveries:approve"
    /// Reads deliveries and their outcomes, templates, seed addresses, saved audiences and control groups.
    case readDeliveries = "deliveries:read"
    /// Sends single messages.
    case sendMessages = "messages:send"
    /// Looks up single messages.
    case readMessages = "messages:read"
    /// Records conversions, so that a shop needs no right to do anything else.
    case writeConversions = "conversions:write"
    case readApplications = "applications:read"
    /// Sets and removes frequency caps. It is separate from deliveries, because people get more messages without a cap.
    case writeCaps = "caps:write"
    /// Creates and changes exclusion lists. It is separate from deliveries because a person removed from a list gets
    /// messages again.
    case writeExclusions = "exclusions:write"
    /// Reads exclusion lists and looks up people on them.
    case readExclusions = "exclusions:read"
    /// Reads the events of consumers.
    case readEvents = "events:read"
    /// Decides who gets events, and where they are posted: for operators' systems.
    case writeEvents = "events:write"

    /// What it allows, as shown to people.
    package var meaning: String {
        switch self {
        case .writeDevices: "Register and unregister devices; opt users out and in."
        case .readDevices: "Read devices, including their push tokens."
        case .writeDeliveries:
            "Create, change, analyse, start, pause, resume and stop deliveries; manage templates, seed addresses, saved audiences and control groups."
        case .approveDeliveries: "Approve and reject deliveries that others made."
        case .readDeliveries:
            "Read deliveries and their outcomes, templates, seed addresses, saved audiences and control groups."
        case .sendMessages: "Send single messages."
        case .readMessages: "Look up single messages."
        case .writeConversions: "Record conversions."
        case .readApplications: "Read applications."
        case .writeCaps: "Set and remove frequency caps."
        case .writeExclusions: "Create and delete exclusion lists, and change the people on them."
        case .readExclusions: "Read exclusion lists, and look up people on them."
        case .readEvents: "Read the events of consumers, and say what was processed."
        case .writeEvents:
            "Create and remove consumers of events; create, pause and remove their webhooks; post dead letters again."
        }
    }
}
