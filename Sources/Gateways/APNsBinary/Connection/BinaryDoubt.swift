/// Why nobody knows what became of a message.
enum BinaryDoubt: String, Sendable, Hashable {
    /// The connection ended without an error packet.
    case connectionLost = "ConnectionLost"
    /// The gateway's host did not take the bytes in time.
    case timeout = "Timeout"
    /// The error packet names no message of the connection.
    case unknownIdentifier = "UnknownIdentifier"
}
