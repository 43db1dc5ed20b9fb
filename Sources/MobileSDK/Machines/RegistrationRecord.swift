/// What outlives the process: the registration that the server has, and the one that it does not have yet.
struct RegistrationRecord: Sendable, Equatable, Codable {
    /// What was registered, and where.
    struct Mark: Sendable, Equatable, Codable {
        /// `RegistrationForm.hash`.
        var hash: String
        /// Server and integration key: another server does not know what this one was told.
        var destination: String
    }

    /// What the server is known to have. It is taken back as soon as something else is sent: if the answer is lost, nobody
    /// knows which of the two the server has.
    var registered: Mark?
    /// What is still to be sent.
    var pending: Registration?
}
