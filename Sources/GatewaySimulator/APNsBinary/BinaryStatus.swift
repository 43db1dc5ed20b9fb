/// The statuses of error packets in Apple's "Binary Provider API". Their raw values are the reasons of the answers.
enum BinaryStatus: String, CaseIterable, Sendable {
    case processingError = "ProcessingError"
    case missingDeviceToken = "MissingDeviceToken"
    case missingTopic = "MissingTopic"
    case missingPayload = "MissingPayload"
    case invalidTokenSize = "InvalidTokenSize"
    case invalidTopicSize = "InvalidTopicSize"
    case invalidPayloadSize = "InvalidPayloadSize"
    case invalidToken = "InvalidToken"
    case shutdown = "Shutdown"
    case protocolError = "ProtocolError"
    case none = "None"
    case noErrors = "NoErrors"
    /// An undocumented status.
    case undocumented = "Undocumented"

    /// The byte in the packet.
    var code: UInt8 {
        switch self {
        case .noErrors: 0
        case .processingError: 1
        case .missingDeviceToken: 2
        case .missingTopic: 3
        case .missingPayload: 4
        case .invalidTokenSize: 5
        case .invalidTopicSize: 6
        case .invalidPayloadSize: 7
        case .invalidToken: 8
        case .shutdown: 10
        case .undocumented: 77
        case .protocolError: 128
        case .none: 255
        }
    }

    /// The status with this byte.
    init?(code: UInt8) {
        guard let known = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = known
    }
}
