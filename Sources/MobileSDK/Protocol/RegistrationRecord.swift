/// The state that outlives the process: the registration that the server has, and the one still to be sent.
struct RegistrationRecord: Sendable, Equatable, Codable {
    /// What was registered, and with which server.
    struct Mark: Sendable, Equatable, Codable {
        /// `RegistrationForm.hash`.
        var hash: String
        /// Server and integration key: another server does not have the registration.
        var destination: String
    }

    /// The registration that the server is known to have. It is cleared as soon as another one is sent: if the answer
    /// is lost, it is unknown which of the two the server has.
    var registered: Mark?
    /// The registration that is still to be sent.
    var pending: Registration?
    /// The newest registration that the app requested, without an opt-out choice.
    var last: Registration?
    /// The opt-out choices by user key. An opt-out (true) is sent with each registration of the user. An opt-in (false)
    /// is kept only until the server has it: it is sent once, because a choice made elsewhere later is newer.
    var words: [String: Bool] = [:]
    /// The opt-out choice of the user who registers next.
    var nextWord: Bool?
    /// The same choices by category: those of each user key, and those of the user who registers next. Nil for none.
    var categories: [String: [String: Bool]]?
    var nextCategories: [String: Bool]?
}
