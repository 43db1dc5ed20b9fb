/// An error of the simulator.
package struct SimulatorError: Error, CustomStringConvertible, Sendable {
    package enum Code: Sendable {
        /// The state folder or a file in it cannot be read or written.
        case stateFolder
        /// The simulator cannot listen on a port.
        case listen
        /// A credential in the state folder is damaged.
        case credential
        /// A fault plan or a device state is invalid.
        case badRequest
    }

    package let code: Code
    /// What happened, to what, why, and what to do.
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
