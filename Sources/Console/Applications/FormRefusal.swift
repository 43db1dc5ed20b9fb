import Store

/// The input was refused, with a message for the user.
struct FormRefusal: Error {
    let words: String
    /// What is wrong with single fields, by their names.
    var problems: [String: String] = [:]
    /// Whether another user has changed the thing since the form was made.
    var isStale = false

    init(words: String) { self.words = words }

    /// Single fields are wrong.
    init(_ problems: [String: String]) {
        words = Catalogue.current[.formWrong]
        self.problems = problems
    }

    /// The store's refusal of the input; nil for all other errors. An expired session and a missing role, for
    /// example, have their own pages.
    init?(_ error: StoreError) {
        switch error.sqlState {
        case "PM090", "PM091": return nil
        case "PM132":
            words = Catalogue.current[.formStale]
            isStale = true
        default:
            guard [.invalid, .conflict, .notFound].contains(error.code) else { return nil }
            words = error.sqlState == nil ? error.description : error.message
        }
    }
}
