import Store

/// What the database has refused in the composer or on a delivery's page, and what to do about it.
///
/// The database's own remedies often name functions, keys of JSON or commands. People of the console do not have those,
/// so such a remedy is not shown, and ``remedies`` has one of a field or a page instead.
struct RefusalWords: Sendable {
    let catalogue: Catalogue

    /// With this the database refuses a start after which a delivery ends too early for its plan, or for its experiment.
    static let endsEarly = "PM009"

    /// The remedies by the code of the error. The errors of the approval that are not here say themselves who has to do
    /// what.
    static let remedies: [String: Phrase] = [
        "PM001": .applicationGoneRemedy, "PM005": .accountGoneRemedy,
        endsEarly: .startRemedy, "PM020": .contentRefusedRemedy, "PM021": .filterRefusedRemedy,
        "PM041": .seedGoneRemedy, "PM043": .templateCodeRemedy, "PM044": .seedGoneRemedy, "PM045": .seedGoneRemedy,
        "PM050": .listGoneRemedy, "PM150": .categoryGoneRemedy, "PM171": .recursRemedy, "PM181": .requestRemedy,
        "PM186": .proofSmallerRemedy, "PM290": .signalGoneRemedy, "PM332": .restRemedy,
        "PM333": .messageIDsRemedy,
    ]

    /// Whether somebody can do something about an error where it happened: not if the session has ended, or the role
    /// does not allow it.
    static func isTold(_ error: StoreError) -> Bool {
        let isOfSession = error.sqlState == "PM090" || error.sqlState == "PM091"
        return !isOfSession && [.invalid, .conflict, .notFound].contains(error.code)
    }

    /// The refusal and its remedy.
    func words(_ error: StoreError) -> String {
        // Where that happens, the page has the button that it asks for.
        if error.sqlState == "PM180" { return catalogue[.approvalFirst] }
        let message = Self.unnumbered(error)
        if let remedy = error.sqlState.flatMap({ Self.remedies[$0] }) { return "\(message) \(catalogue[remedy])" }
        guard let hint = error.hint, !Self.isForCallers(hint) else { return message }
        return "\(message) \(hint.capitalisedFirst)."
    }

    /// A refusal with times of the page's zone and without the delivery's number: that of a draft is made up for the
    /// check, and the page of a delivery has it anyway. An error about something that is missing may name another one.
    private static func unnumbered(_ error: StoreError) -> String {
        let message = Figures.inZone(error.message)
        guard error.code == .invalid else { return message }
        return message.replacing(#/\b([Dd])elivery \d+/#) { match -> String in
            match.1 == "D" ? "The delivery" : "the delivery"
        }
    }

    /// Whether a hint is for those who call functions, write JSON or run commands.
    private static func isForCallers(_ hint: String) -> Bool {
        hint.contains("pushmta") || hint.contains { "_{[".contains($0) }
    }
}
