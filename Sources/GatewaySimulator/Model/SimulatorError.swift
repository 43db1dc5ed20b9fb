/// Why the simulator cannot do what it was asked for.
public struct SimulatorError: Error, CustomStringConvertible, Sendable {
    /// The kind of trouble.
    public enum Code: Sendable {
        /// The state folder or a file in it cannot be read or written.
        case stateFolder
        /// A port cannot be listened on.
        case listen
        /// A credential in the state folder is damaged.
        case credential
        /// A fault plan or a device state makes no sense.
        case badRequest
    }

    /// The kind of trouble.
    public let code: Code
    /// What happened, to which thing, why, and what to do.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
