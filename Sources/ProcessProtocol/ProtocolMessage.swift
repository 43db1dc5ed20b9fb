/// A message that travels as one line of JSON.
public protocol ProtocolMessage: Codable, Sendable {
    /// The version of the protocol in which the sender wrote the message.
    var version: Int { get }
}
